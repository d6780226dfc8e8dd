import { type ChangeEvent, useState } from "react";
import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { ErrorText } from "../../../i18n/translate";
import { Button } from "../../../ui/button";
import { Dialog, DialogFoot } from "../../../ui/dialog";
import { Field, TextInput } from "../../../ui/field";
import { Form, useSaving } from "../../../ui/form";
import type { Prompt } from "./suggestions";

interface Props {
  prompt: Prompt;
  onFill: (values: Record<string, string>) => Promise<void>;
  onClose: () => void;
}

/** Asks for the arguments of a prompt, or the variables of a saved one. Those that are left empty are left out. */
export default function PromptDialog({ prompt, onFill, onClose }: Props) {
  const t = useText(chatText);
  const [values, setValues] = useState<Record<string, string>>(() =>
    Object.fromEntries(prompt.arguments.map((one) => [one.name, one.preset ?? ""])),
  );
  const { saving, failure, run } = useSaving();
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim()));
  const complete = prompt.arguments.every((one) => !one.required || one.name in given);
  const submit = () => {
    if (complete) void run(() => onFill(given));
  };
  return (
    <Dialog title={prompt.title} onClose={onClose}>
      <Form submit={submit}>
        <p className="small muted">{prompt.fill ? t.promptSaved : t.promptFrom(prompt.server)}</p>
        {prompt.arguments.map((one, index) => (
          <Field
            key={one.name}
            label={one.required ? one.title : t.optional(one.title)}
            note={one.description || undefined}
          >
            {(control) => {
              const shared = {
                ...control,
                required: one.required,
                "data-autofocus": index === 0 || undefined,
                value: values[one.name] ?? "",
                onChange: (event: ChangeEvent<HTMLInputElement | HTMLSelectElement>) =>
                  setValues({ ...values, [one.name]: event.target.value }),
              };
              if (!one.choices?.length) return <TextInput maxLength={10_000} {...shared} />;
              return (
                <select className="input" {...shared}>
                  {one.choices.map((choice) => (
                    <option key={choice}>{choice}</option>
                  ))}
                </select>
              );
            }}
          </Field>
        ))}
        {failure !== null && (
          <p className="field-error" role="alert">
            <ErrorText error={failure} />
          </p>
        )}
        <DialogFoot>
          <Button kind="primary" type="submit" disabled={saving || !complete}>
            {t.insertPrompt}
          </Button>
        </DialogFoot>
      </Form>
    </Dialog>
  );
}
