import { ApiError } from "../../api";
import { useText } from "../../i18n/language";
import { Translated } from "../../i18n/translate";
import { Button } from "../../ui/button";
import { Notice } from "../../ui/feedback";
import type { Draft } from "./notes";
import { knowledgeText } from "./text";

export function isSecretFound(error: unknown): error is ApiError {
  return error instanceof ApiError && error.reason.code === "knowledge.secret_found";
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
          <div className="row wrap">
            <Button small kind="primary" icon="lock" disabled={saving} onClick={() => save("mask")}>
              {t.maskAndSave}
            </Button>
            <Button small disabled={saving} onClick={() => save("allow")}>
              {t.saveAnyway}
            </Button>
          </div>
        }
      >
        <Translated message={error.reason} />
      </Notice>
    </div>
  );
}
