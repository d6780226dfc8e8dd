import { type FormEvent, useState } from "react";
import type { FieldSchema, Question } from "../../../../core/events";
import type { Reply } from "../../../../core/transport";
import { useText } from "../../../i18n/language";
import { toolsText } from "../../../i18n/strings/tools";
import { ErrorText } from "../../../i18n/translate";
import { chats } from "../../../sessions/chats";
import { Button } from "../../../ui/button";
import { Field, TextInput } from "../../../ui/field";
import { Icon } from "../../../ui/icon";

/** A question that a server asks while its tool runs. All of its texts are the server's own. */
export default function QuestionForm({ messageId, question }: { messageId: string; question: Question }) {
  const t = useText(toolsText);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const reply = (answer: Reply) => {
    setBusy(true);
    setFailure(null);
    document.getElementById("message")?.focus(); // keep the focus: the pressed button is about to disappear
    chats.reply(messageId, question.id, answer).catch((error: unknown) => {
      setFailure(error);
      setBusy(false);
    });
  };
  const fields = Object.entries(question.schema?.properties ?? {});
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const content =
      question.mode === "form" ? contentOf(new FormData(event.currentTarget), fields) : undefined;
    reply({ action: "accept", ...(content && { content }) });
  };
  const title = question.mode === "sampling" ? t.asksModel(question.server) : t.asksYou(question.server);
  return (
    <section className="approval" aria-label={title}>
      <div className="approval-head">
        <Icon name={question.mode === "sampling" ? "shield" : "chat"} size={20} />
        <div>
          <h3>{title}</h3>
          {question.mode === "sampling" && <p className="small muted">{t.asksModelNote}</p>}
        </div>
      </div>
      <p className="question-text">{question.message}</p>
      <form className="stack" onSubmit={submit}>
        {fields.map(([name, schema]) => (
          <Control
            key={name}
            name={name}
            schema={schema}
            required={question.schema?.required?.includes(name) ?? false}
          />
        ))}
        {question.mode === "form" && fields.length > 0 && <p className="small muted">{t.never}</p>}
        {question.mode === "url" && <Link url={question.url ?? ""} />}
        <div className="row wrap">
          <Button kind="primary" small type="submit" disabled={busy}>
            {{ form: t.sendAnswer, url: t.urlDone, sampling: t.letModel }[question.mode]}
          </Button>
          <Button small disabled={busy} onClick={() => reply({ action: "decline" })}>
            {t.decline}
          </Button>
        </div>
      </form>
      {failure !== null && (
        <p className="field-error" role="alert">
          {t.answerFailed} <ErrorText error={failure} />
        </p>
      )}
    </section>
  );
}

/** Never opened by itself; the host is shown, because a server chose the URL. */
function Link({ url }: { url: string }) {
  const t = useText(toolsText);
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return null;
  return (
    <p>
      <a href={parsed.href} target="_blank" rel="noopener noreferrer">
        {t.openUrl}
      </a>{" "}
      <span className="small muted">{t.urlNote(parsed.host)}</span>
    </p>
  );
}

function Control({ name, schema, required }: { name: string; schema: FieldSchema; required: boolean }) {
  const label = `${schema.title ?? name}${required ? " *" : ""}`;
  const options = choices(schema);
  if (schema.type === "boolean") {
    return (
      <label className="row">
        <input type="checkbox" name={name} defaultChecked={schema.default === true} /> {label}
      </label>
    );
  }
  if (schema.type === "array") {
    return (
      <fieldset className="question-choices">
        <legend>{label}</legend>
        {options.map(([value, title]) => (
          <label key={value} className="row">
            <input type="checkbox" name={name} value={value} /> {title}
          </label>
        ))}
      </fieldset>
    );
  }
  return (
    <Field label={label} note={schema.description}>
      {(control) =>
        options.length > 0 ? (
          <select
            className="input"
            name={name}
            required={required}
            defaultValue={text(schema.default)}
            {...control}
          >
            <option value="" />
            {options.map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        ) : (
          <TextInput
            type={inputType(schema)}
            name={name}
            required={required}
            defaultValue={text(schema.default)}
            minLength={schema.minLength}
            maxLength={schema.maxLength}
            min={schema.minimum}
            max={schema.maximum}
            step={schema.type === "number" ? "any" : undefined}
            {...control}
          />
        )
      }
    </Field>
  );
}

function choices(schema: FieldSchema): [string, string][] {
  const named = schema.oneOf ?? schema.items?.anyOf;
  if (named) return named.map((one) => [one.const, one.title ?? one.const]);
  const values = schema.enum ?? schema.items?.enum ?? [];
  return values.map((value, index) => [value, schema.enumNames?.[index] ?? value]);
}

function inputType({ type, format }: FieldSchema): string {
  if (type === "number" || type === "integer") return "number";
  return { email: "email", uri: "url", date: "date", "date-time": "datetime-local" }[format ?? ""] ?? "text";
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Fields that were left empty are left out. */
function contentOf(form: FormData, fields: [string, FieldSchema][]): Record<string, unknown> {
  const content: Record<string, unknown> = {};
  for (const [name, schema] of fields) {
    const value = form.get(name);
    if (schema.type === "boolean") content[name] = value !== null;
    else if (schema.type === "array") content[name] = form.getAll(name);
    else if (typeof value !== "string" || value === "") continue;
    else if (schema.type === "number" || schema.type === "integer") content[name] = Number(value);
    else if (schema.format === "date-time") content[name] = new Date(value).toISOString();
    else content[name] = value;
  }
  return content;
}
