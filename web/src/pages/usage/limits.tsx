import { type FormEvent, useState } from "react";
import { api } from "../../api";
import { count, dollars } from "../../i18n/amounts";
import { useLanguage, useText } from "../../i18n/language";
import { usageText } from "../../i18n/strings/usage";
import { ErrorText } from "../../i18n/translate";
import { queryClient } from "../../query";
import { Button } from "../../ui/button";
import { ErrorNotice } from "../../ui/feedback";
import { Field, TextInput } from "../../ui/field";
import { useToast } from "../../ui/toast";
import { type Limit, type Scope, useLimits } from "./usage";

const SCOPES: Scope[] = ["everyone", "team", "user"];

/** For admins: the limits that are set, and a form for another one. */
export function LimitSettings({ users }: { users: readonly string[] }) {
  const t = useText(usageText);
  const { data, error, refetch } = useLimits(true);
  return (
    <details className="us-manage">
      <summary>{t.manage}</summary>
      <p className="muted">{t.manageLead}</p>
      {error && <ErrorNotice error={error} retry={() => void refetch()} />}
      {data && (
        <ul className="us-set">
          {data.limits.map((limit) => (
            <SetLimit key={`${limit.scope} ${limit.user_id}`} limit={limit} />
          ))}
          {(["user", "team"] as const)
            .filter((scope) => data.defaults[scope].tokens !== null || data.defaults[scope].cost !== null)
            .map((scope) => (
              <li key={scope} className="muted small">
                {scope === "team" ? t.scope_team : t.scope_everyone}: <Amounts {...data.defaults[scope]} /> (
                {t.defaultOf})
              </li>
            ))}
        </ul>
      )}
      <LimitForm users={users} />
    </details>
  );
}

function Amounts({ tokens, cost }: { tokens: number | null; cost: number | null }) {
  const t = useText(usageText);
  const language = useLanguage();
  const parts = [
    tokens === null ? null : t.tokenLimit(count(tokens, language)),
    cost === null ? null : dollars(cost, language),
  ].filter((part) => part !== null);
  return <>{parts.join(" · ") || t.noLimit}</>;
}

async function change(work: Promise<unknown>): Promise<void> {
  await work;
  await queryClient.invalidateQueries({ queryKey: ["usage"] });
}

function SetLimit({ limit }: { limit: Limit }) {
  const t = useText(usageText);
  const toast = useToast();
  const name = limit.scope === "user" ? limit.user_id : t[`scope_${limit.scope}`];
  const remove = async () => {
    try {
      const query = { scope: limit.scope, user_id: limit.user_id };
      await change(api.delete("api/usage/limits", { query }));
      toast(t.removed);
    } catch (error) {
      toast(<ErrorText error={error} />);
    }
  };
  return (
    <li className="row wrap">
      <strong>{name}</strong>
      <span>
        <Amounts tokens={limit.tokens} cost={limit.cost} />
      </span>
      <span className="grow" />
      <Button
        small
        kind="quiet"
        icon="close"
        aria-label={`${t.remove}: ${name}`}
        onClick={() => void remove()}
      >
        {t.remove}
      </Button>
    </li>
  );
}

function LimitForm({ users }: { users: readonly string[] }) {
  const t = useText(usageText);
  const toast = useToast();
  const [scope, setScope] = useState<Scope>("everyone");
  const [failure, setFailure] = useState<unknown>(null);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const entered = (name: string) => String(new FormData(form).get(name) ?? "").trim();
    const amount = (name: string) => (entered(name) === "" ? null : Number(entered(name)));
    try {
      const limit = { scope, user_id: scope === "user" ? entered("user") : "", tokens: amount("tokens") };
      await change(api.put("api/usage/limits", { ...limit, cost: amount("cost") }));
      setFailure(null);
      form.reset();
      setScope("everyone");
      toast(t.saved);
    } catch (error) {
      setFailure(error);
    }
  };
  return (
    <form className="us-form" onSubmit={(event) => void submit(event)}>
      <Field label={t.scope}>
        {(control) => (
          <select
            {...control}
            className="input"
            value={scope}
            onChange={(event) => setScope(event.target.value as Scope)}
          >
            {SCOPES.map((one) => (
              <option key={one} value={one}>
                {t[`scope_${one}`]}
              </option>
            ))}
          </select>
        )}
      </Field>
      {scope === "user" && (
        <Field label={t.userName}>
          {(control) => <TextInput {...control} name="user" required maxLength={200} list="us-users" />}
        </Field>
      )}
      <datalist id="us-users">
        {users.map((user) => (
          <option key={user} value={user} />
        ))}
      </datalist>
      <Field label={t.maxTokens}>
        {(control) => (
          <TextInput {...control} name="tokens" type="number" min={0} step={1} inputMode="numeric" />
        )}
      </Field>
      <Field label={t.maxCost}>
        {(control) => (
          <TextInput {...control} name="cost" type="number" min={0} step="any" inputMode="decimal" />
        )}
      </Field>
      <Button type="submit" kind="primary">
        {t.setLimit}
      </Button>
      {failure !== null && <ErrorNotice error={failure} />}
    </form>
  );
}
