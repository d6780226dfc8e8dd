import { useId, useState } from "react";
import type { Parameters } from "../../../../core/model-choice";
import type { ModelParameter } from "../../../agents/models";
import { useText } from "../../../i18n/language";
import { pickerText } from "../../../i18n/strings/model-picker";

interface Props {
  name: string;
  /** Those that the model takes. */
  known: readonly ModelParameter[];
  parameters: Parameters;
  onChange: (parameters: Parameters) => void;
}

/** Temperature, maximum length and reasoning effort, as far as the model takes them. An empty field is the default. */
export function ModelSettings({ name, known, parameters, onChange }: Props) {
  const t = useText(pickerText);
  const id = useId();
  if (!known.length) return null;
  const change = (parameter: ModelParameter, value: string | number | undefined) => {
    const { [parameter.name]: _, ...rest } = parameters;
    onChange(value === undefined ? rest : { ...rest, [parameter.name]: value });
  };
  return (
    <fieldset className="model-settings">
      <legend className="small">{t.settings(name)}</legend>
      {known.map((parameter) => (
        <div key={parameter.name} className="field">
          <label className="field-label" htmlFor={`${id}-${parameter.name}`}>
            {t[parameter.name]}
          </label>
          {parameter.values.length ? (
            <select
              id={`${id}-${parameter.name}`}
              className="input"
              value={String(parameters[parameter.name] ?? "")}
              onChange={(event) => change(parameter, event.target.value || undefined)}
            >
              <option value="">{t.automatic}</option>
              {parameter.values.map((value) => (
                <option key={value} value={value}>
                  {value === "low" || value === "medium" || value === "high" ? t[value] : value}
                </option>
              ))}
            </select>
          ) : (
            <NumberField
              id={`${id}-${parameter.name}`}
              parameter={parameter}
              value={parameters[parameter.name]}
              onChange={(value) => change(parameter, value)}
            />
          )}
        </div>
      ))}
    </fieldset>
  );
}

/** Keeps what is typed; only a number in the range is taken. */
function NumberField({
  id,
  parameter,
  value,
  onChange,
}: {
  id: string;
  parameter: ModelParameter;
  value: unknown;
  onChange: (value: number | undefined) => void;
}) {
  const t = useText(pickerText);
  const [text, setText] = useState(value === undefined ? "" : String(value));
  const whole = parameter.name === "max_tokens";
  const within = (number: number) =>
    Number.isFinite(number) &&
    number >= (parameter.minimum ?? number) &&
    number <= (parameter.maximum ?? number) &&
    (!whole || Number.isInteger(number));
  const wrong = text.trim() !== "" && !within(Number(text));
  return (
    <input
      id={id}
      className="input"
      type="number"
      inputMode={whole ? "numeric" : "decimal"}
      min={parameter.minimum ?? undefined}
      max={parameter.maximum ?? undefined}
      step={whole ? 1 : 0.1}
      placeholder={t.automatic}
      aria-invalid={wrong}
      value={text}
      onChange={(event) => {
        const typed = event.target.value;
        setText(typed);
        if (typed.trim() === "") onChange(undefined);
        else if (within(Number(typed))) onChange(Number(typed));
      }}
    />
  );
}
