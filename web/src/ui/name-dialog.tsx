import { useState } from "react";
import { useErrorText } from "../i18n/translate";
import { Button } from "./button";
import { Dialog, DialogFoot } from "./dialog";
import { Field, TextInput } from "./field";
import { useSaving } from "./form";

interface Props {
  title: string;
  /** Of the field. */
  label: string;
  name?: string;
  maxLength: number;
  /** Of the button. */
  action: string;
  save: (name: string) => Promise<unknown>;
  onClose: () => void;
}

/** Asks for a name, and closes once it is saved. */
export function NameDialog({ title, label, name: before = "", maxLength, action, save, onClose }: Props) {
  const why = useErrorText();
  const [name, setName] = useState(before);
  const { saving, failure, run } = useSaving();
  const submit = () => {
    if (name.trim()) void run(() => save(name.trim()).then(onClose));
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Field label={label} error={failure === null ? null : why(failure)}>
        {(control) => (
          <TextInput
            {...control}
            data-autofocus
            maxLength={maxLength}
            value={name}
            onChange={(event) => setName(event.target.value)}
            onEnter={submit}
          />
        )}
      </Field>
      <DialogFoot onCancel={onClose}>
        <Button kind="primary" disabled={!name.trim() || saving} onClick={submit}>
          {action}
        </Button>
      </DialogFoot>
    </Dialog>
  );
}
