import { useState } from "react";
import { useText } from "../../i18n/language";
import { projectsText } from "../../i18n/strings/projects";
import { shellText } from "../../i18n/strings/shell";
import { useErrorText } from "../../i18n/translate";
import { Button } from "../../ui/button";
import { Dialog, DialogFoot } from "../../ui/dialog";
import { Field, TextInput } from "../../ui/field";
import { type Project, projects } from "./client";

export function RenameDialog({ project, onClose }: { project: Project; onClose: () => void }) {
  const t = useText(projectsText);
  const shell = useText(shellText);
  const why = useErrorText();
  const [name, setName] = useState(project.name);
  const [error, setError] = useState<unknown>(null);
  const save = () => {
    if (name.trim()) void projects.change(project.project_id, { name: name.trim() }).then(onClose, setError);
  };
  return (
    <Dialog title={t.rename} onClose={onClose}>
      <Field label={t.name} error={error === null ? null : why(error)}>
        {(control) => (
          <TextInput
            {...control}
            data-autofocus
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.target.value)}
            onEnter={save}
          />
        )}
      </Field>
      <DialogFoot>
        <Button onClick={onClose}>{shell.cancel}</Button>
        <Button kind="primary" disabled={!name.trim()} onClick={save}>
          {shell.save}
        </Button>
      </DialogFoot>
    </Dialog>
  );
}
