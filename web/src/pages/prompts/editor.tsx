import { useState } from "react";
import { variablesIn } from "../../../core/prompt-template";
import { useText } from "../../i18n/language";
import { promptsText } from "../../i18n/strings/prompts";
import { shellText } from "../../i18n/strings/shell";
import { ErrorText } from "../../i18n/translate";
import { Button } from "../../ui/button";
import { Dialog, DialogFoot } from "../../ui/dialog";
import { Field, TextArea, TextInput } from "../../ui/field";
import { Form, useSaving } from "../../ui/form";
import { useToast } from "../../ui/toast";
import { library, type PromptDraft } from "./saved-prompts";

const MAX_NAME = 100;
const MAX_TEXT = 50_000;

/** Creates a prompt, or changes the one with this id. */
export function PromptEditor({
  title,
  prompt,
  id,
  onClose,
}: {
  title: string;
  prompt: PromptDraft;
  id?: string;
  onClose: () => void;
}) {
  const t = useText(promptsText);
  const shell = useText(shellText);
  const toast = useToast();
  const [draft, setDraft] = useState(prompt);
  const { saving, failure, run } = useSaving();
  const change = (part: Partial<PromptDraft>) => setDraft({ ...draft, ...part });
  const ready = Boolean(draft.name.trim() && draft.text.trim());
  const names = variablesIn(draft.text).map(({ name, choices }) =>
    choices.length ? `${name} (${choices.join(" / ")})` : name,
  );
  const save = () => {
    if (!ready) return;
    void run(async () => {
      await library.save(draft, id);
      toast(t.saved(draft.name.trim()));
      onClose();
    });
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form submit={save}>
        <Field label={t.name}>
          {(control) => (
            <TextInput
              {...control}
              data-autofocus
              required
              maxLength={MAX_NAME}
              value={draft.name}
              onChange={(event) => change({ name: event.target.value })}
            />
          )}
        </Field>
        <Field label={t.text} note={names.length ? t.variables(names.join(", ")) : t.syntax}>
          {(control) => (
            <TextArea
              {...control}
              required
              rows={8}
              maxLength={MAX_TEXT}
              value={draft.text}
              onChange={(event) => change({ text: event.target.value })}
            />
          )}
        </Field>
        <div>
          <label className="row">
            <input
              type="checkbox"
              checked={draft.shared}
              onChange={(event) => change({ shared: event.target.checked })}
            />{" "}
            {t.shared}
          </label>
          <p className="small muted">{t.sharedNote}</p>
        </div>
        {failure !== null && (
          <p className="field-error" role="alert">
            <ErrorText error={failure} />
          </p>
        )}
        <DialogFoot onCancel={onClose}>
          <Button kind="primary" type="submit" disabled={saving || !ready}>
            {shell.save}
          </Button>
        </DialogFoot>
      </Form>
    </Dialog>
  );
}
