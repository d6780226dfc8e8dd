/** Adds or changes a model endpoint. It can be tested before it is saved. */
import { useId, useState } from "react";
import { useText } from "../../i18n/language";
import { settingsText } from "../../i18n/strings/settings";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Field, TextInput } from "../../ui/field";
import { Form, useSaving } from "../../ui/form";
import { useToast } from "../../ui/toast";
import { Credentials } from "./credentials";
import { type Endpoint, endpoints, KINDS, type Kind, type Trial } from "./endpoints";
import { DEFAULT_URLS, type EndpointForm, emptyForm, fieldsOf, formOf } from "./form-fields";
import { Failure, Names, TrialResult, useTrial } from "./trial";

/** A new endpoint has only its kind. */
export function EndpointDialog({ edited, onClose }: { edited: Endpoint | Kind; onClose: () => void }) {
  const endpoint = typeof edited === "string" ? null : edited;
  const t = useText(settingsText);
  const toast = useToast();
  const names: Record<Kind, string> = {
    openai: "OpenAI",
    anthropic: t.kind_anthropic,
    gemini: t.kind_gemini,
    bedrock: t.kind_bedrock,
  };
  const [form, setForm] = useState<EndpointForm>(
    typeof edited === "string" ? emptyForm(edited, names[edited]) : formOf(edited),
  );
  const { saving, failure, run } = useSaving();
  const trial = useTrial<Trial>();
  const models = useId();
  const change = (part: Partial<EndpointForm>) => setForm((before) => ({ ...before, ...part }));
  const fields = () => fieldsOf(form, endpoint);

  function choose(kind: Kind) {
    const isSuggested = Object.values(names).includes(form.name) || !form.name.trim();
    change({ kind, ...(isSuggested && { name: names[kind] }) });
  }

  const submit = () =>
    void run(async () => {
      if (endpoint) await endpoints.change(endpoint.id, fields());
      else await endpoints.add(form.kind, fields());
      toast(t.saved);
      onClose();
    });
  const test = () =>
    void trial.run(() =>
      endpoints.test({ ...fields(), ...(endpoint ? { id: endpoint.id } : { kind: form.kind }) }),
    );

  return (
    <Dialog title={endpoint ? t.editEndpoint(String(endpoint.name)) : t.addEndpoint} onClose={onClose}>
      <Form submit={submit}>
        {!endpoint && <KindField value={form.kind} onChange={choose} />}
        <Field label={t.name} note={t.nameNote}>
          {(control) => (
            <TextInput
              {...control}
              required
              maxLength={80}
              value={form.name}
              onChange={(event) => change({ name: event.target.value })}
            />
          )}
        </Field>
        {form.kind !== "bedrock" && (
          <Field
            label={t.url}
            note={
              form.kind === "openai" ? t.urlNote_openai : t.urlNote_default(DEFAULT_URLS[form.kind] ?? "")
            }
          >
            {(control) => (
              <TextInput
                {...control}
                type="url"
                spellCheck={false}
                maxLength={500}
                placeholder={DEFAULT_URLS[form.kind]}
                value={form.url}
                onChange={(event) => change({ url: event.target.value })}
              />
            )}
          </Field>
        )}
        <Credentials form={form} endpoint={endpoint} change={change} />
        <Field label={t.model} note={t.modelNote}>
          {(control) => (
            <TextInput
              {...control}
              list={models}
              spellCheck={false}
              maxLength={500}
              value={form.model}
              onChange={(event) => change({ model: event.target.value })}
            />
          )}
        </Field>
        <datalist id={models}>
          {trial.result?.models.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <TrialResult trial={trial}>
          {(result) => (
            <>
              {t.works(result.models.length)} <Names names={result.models} />
            </>
          )}
        </TrialResult>
        {failure !== null && <Failure error={failure} />}
        <div className="st-foot">
          <Button disabled={trial.testing} onClick={test}>
            {trial.testing ? t.testing : t.test}
          </Button>
          <Button kind="primary" type="submit" disabled={saving || !form.name.trim()}>
            {saving ? t.saving : endpoint ? t.save : t.add}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

function KindField({ value, onChange }: { value: Kind; onChange: (kind: Kind) => void }) {
  const t = useText(settingsText);
  const name = useId();
  return (
    <fieldset className="st-kinds">
      <legend className="field-label">{t.kind}</legend>
      {KINDS.map((kind) => (
        <label key={kind} className="st-kind">
          <input type="radio" name={name} checked={kind === value} onChange={() => onChange(kind)} />
          <span>
            {t[`kind_${kind}`]}
            <span className="muted small">{t[`kindNote_${kind}`]}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
