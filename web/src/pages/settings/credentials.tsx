/** The fields for keys. A stored key is never shown: an empty field keeps it. */
import { useText } from "../../i18n/language";
import { settingsText } from "../../i18n/strings/settings";
import { Field, TextInput } from "../../ui/field";
import type { Endpoint } from "./endpoints";
import type { CredentialKind, EndpointForm } from "./form-fields";

interface Props {
  form: EndpointForm;
  endpoint: Endpoint | null;
  change: (part: Partial<EndpointForm>) => void;
}

export function Credentials({ form, endpoint, change }: Props) {
  const t = useText(settingsText);
  if (form.kind === "bedrock") return <BedrockCredentials form={form} endpoint={endpoint} change={change} />;
  return (
    <SecretField
      label={form.kind === "openai" ? t.apiKeyOptional : t.apiKey}
      note={form.kind === "openai" ? `${t.keyNote} ${t.keyLocal}` : t.keyNote}
      endpoint={endpoint}
      value={form.apiKey}
      onChange={(apiKey) => change({ apiKey })}
    />
  );
}

function BedrockCredentials({ form, endpoint, change }: Props) {
  const t = useText(settingsText);
  const kinds: readonly CredentialKind[] = ["profile", "api_key", "keys"];
  const stored = endpoint?.key_kind === form.credentials ? endpoint : null;
  return (
    <>
      <Field label={t.region}>
        {(control) => (
          <TextInput
            {...control}
            required
            spellCheck={false}
            maxLength={40}
            value={form.region}
            onChange={(event) => change({ region: event.target.value })}
          />
        )}
      </Field>
      <Field label={t.credentials}>
        {(control) => (
          <select
            {...control}
            className="input"
            value={form.credentials}
            onChange={(event) => change({ credentials: event.target.value as CredentialKind })}
          >
            {kinds.map((kind) => (
              <option key={kind} value={kind}>
                {t[`credentials_${kind}`]}
              </option>
            ))}
          </select>
        )}
      </Field>
      {form.credentials === "profile" && (
        <Field label={t.profile} note={t.profileNote}>
          {(control) => (
            <TextInput
              {...control}
              spellCheck={false}
              maxLength={200}
              value={form.profile}
              onChange={(event) => change({ profile: event.target.value })}
            />
          )}
        </Field>
      )}
      {form.credentials === "api_key" && (
        <SecretField
          label={t.credentials_api_key}
          note={t.keyNote}
          endpoint={stored}
          value={form.apiKey}
          onChange={(apiKey) => change({ apiKey })}
        />
      )}
      {form.credentials === "keys" && (
        <>
          <SecretField
            label={t.accessKeyId}
            endpoint={stored}
            value={form.accessKeyId}
            onChange={(accessKeyId) => change({ accessKeyId })}
          />
          <SecretField
            label={t.secretAccessKey}
            note={t.keyNote}
            endpoint={stored}
            value={form.secretAccessKey}
            onChange={(secretAccessKey) => change({ secretAccessKey })}
          />
          <SecretField
            label={t.sessionToken}
            endpoint={null}
            value={form.sessionToken}
            onChange={(sessionToken) => change({ sessionToken })}
          />
        </>
      )}
    </>
  );
}

function SecretField({
  label,
  note,
  endpoint,
  value,
  onChange,
}: {
  label: string;
  note?: string;
  endpoint: Endpoint | null;
  value: string;
  onChange: (value: string) => void;
}) {
  const t = useText(settingsText);
  const stored = endpoint?.key === "set" ? t.keySaved : null;
  const error = endpoint?.key === "unreadable" && !value ? t.keyUnreadable : null;
  return (
    <Field label={label} note={stored ?? note} error={error}>
      {(control) => (
        <TextInput
          {...control}
          type="password"
          autoComplete="off"
          data-1p-ignore
          spellCheck={false}
          maxLength={8000}
          placeholder={stored ? "••••••••" : undefined}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
