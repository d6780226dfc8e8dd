import type { ServerMessage } from "../../../../core/server-message";
import { ApiError } from "../../../api";
import { useText } from "../../../i18n/language";
import { knowledgeText } from "../../../i18n/strings/knowledge";
import { Translated } from "../../../i18n/translate";
import { Button } from "../../../ui/button";
import { Notice } from "../../../ui/feedback";
import type { Draft } from "../notes";

export function isSecretFound(error: unknown): error is ApiError {
  return error instanceof ApiError && isSecret(error.reason);
}

export function isSecret(reason: ServerMessage): boolean {
  return reason.code === "knowledge.secret_found";
}

/** What looks like a secret, and the ways to save the note: with the values masked, or as it is. */
export function SecretWarning({
  error,
  saving,
  save,
}: {
  error: ApiError;
  saving: boolean;
  save: (secrets: Draft["secrets"]) => void;
}) {
  const t = useText(knowledgeText);
  return (
    <div role="alert">
      <Notice
        kind="warn"
        action={
          <SecretButtons
            labels={{ mask: t.maskAndSave, allow: t.saveAnyway }}
            disabled={saving}
            save={save}
          />
        }
      >
        <Translated message={error.reason} />
      </Notice>
    </div>
  );
}

export function SecretButtons({
  labels,
  disabled,
  save,
}: {
  labels: { mask: string; allow: string };
  disabled: boolean;
  save: (secrets: Draft["secrets"]) => void;
}) {
  return (
    <div className="row wrap">
      <Button small kind="primary" icon="lock" disabled={disabled} onClick={() => save("mask")}>
        {labels.mask}
      </Button>
      <Button small disabled={disabled} onClick={() => save("allow")}>
        {labels.allow}
      </Button>
    </div>
  );
}
