/** Adds or changes an MCP server by URL. It can be tested before it is saved. */
import { useState } from "react";
import { useText } from "../../i18n/language";
import { settingsText } from "../../i18n/strings/settings";
import { Button, IconButton } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Field, TextInput } from "../../ui/field";
import { Form, useSaving } from "../../ui/form";
import { useToast } from "../../ui/toast";
import type { ServerState } from "../servers/servers";
import { addedServers, type ServerFields, type ServerTrial } from "./added-servers";
import { Failure, ServerTrialResult, useTrial } from "./trial";

const AUTHORIZATION = "Authorization";

interface Header {
  id: number;
  name: string;
  value: string;
  /** The value is stored, and kept while the field is empty. */
  stored: boolean;
}

export function ServerDialog({ server, onClose }: { server: ServerState | null; onClose: () => void }) {
  const t = useText(settingsText);
  const toast = useToast();
  const details = server?.added ?? null;
  const isKept = Boolean(details?.readable);
  const [name, setName] = useState(server?.name ?? "");
  const [url, setUrl] = useState("");
  const [asks, setAsks] = useState(details?.always_ask ?? false);
  const [headers, setHeaders] = useState<Header[]>(() =>
    (details?.headers ?? []).map((one, id) => ({ id, name: one, value: "", stored: isKept })),
  );
  const { saving, failure, run } = useSaving();
  const trial = useTrial<ServerTrial>();
  const token = headers.find((header) => header.name.toLowerCase() === "authorization");

  const put = (id: number, part: Partial<Header>) =>
    setHeaders((all) => all.map((header) => (header.id === id ? { ...header, ...part } : header)));
  const add = (part: Partial<Header>) =>
    setHeaders((all) => [...all, { id: nextId(all), name: "", value: "", stored: false, ...part }]);
  const drop = (id: number) => setHeaders((all) => all.filter((header) => header.id !== id));

  const fields = (): ServerFields => ({
    ...(url.trim() && { url: url.trim() }),
    headers: Object.fromEntries(headers.filter((header) => header.name.trim()).map(sent)),
    always_ask: asks,
  });
  const submit = () =>
    void run(async () => {
      if (server) await addedServers.change(server.name, fields());
      else await addedServers.add(name.trim(), fields());
      toast(t.saved);
      onClose();
    });
  const test = () =>
    void trial.run(() =>
      addedServers.test({
        ...fields(),
        ...(server ? { name: server.name, added: true } : name.trim() && { name: name.trim() }),
      }),
    );

  return (
    <Dialog title={server ? t.editServer(server.name) : t.addServer} onClose={onClose}>
      <Form submit={submit}>
        {!server && (
          <Field label={t.serverName} note={t.serverNameNote}>
            {(control) => (
              <TextInput
                {...control}
                required
                maxLength={64}
                spellCheck={false}
                pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
            )}
          </Field>
        )}
        <Field label={t.serverUrl} note={isKept && details ? t.serverUrlKept(details.url) : t.serverUrlNote}>
          {(control) => (
            <TextInput
              {...control}
              type="url"
              required={!isKept}
              spellCheck={false}
              value={url}
              onChange={(event) => setUrl(event.target.value)}
            />
          )}
        </Field>
        <Field label={t.token} note={token?.stored ? t.keySaved : t.tokenNote}>
          {(control) => (
            <div className="row">
              <TextInput
                {...control}
                className="grow"
                type="password"
                data-1p-ignore
                spellCheck={false}
                placeholder={token?.stored ? "••••••••" : undefined}
                value={token?.value ?? ""}
                onChange={(event) =>
                  token
                    ? put(token.id, { value: event.target.value })
                    : add({ name: AUTHORIZATION, value: event.target.value })
                }
              />
              {token?.stored && (
                <IconButton icon="trash" label={t.removeToken} onClick={() => drop(token.id)} />
              )}
            </div>
          )}
        </Field>
        <div className="st-headers">
          <div className="field-label">{t.headers}</div>
          {headers
            .filter((header) => header.id !== token?.id)
            .map((header) => (
              <div key={header.id} className="st-header-row">
                <TextInput
                  aria-label={t.headerName}
                  placeholder={t.headerName}
                  spellCheck={false}
                  maxLength={100}
                  readOnly={header.stored}
                  value={header.name}
                  onChange={(event) => put(header.id, { name: event.target.value })}
                />
                <TextInput
                  aria-label={t.headerValue}
                  placeholder={header.stored ? t.headerSaved : t.headerValue}
                  type="password"
                  data-1p-ignore
                  spellCheck={false}
                  value={header.value}
                  onChange={(event) => put(header.id, { value: event.target.value })}
                />
                <IconButton
                  icon="trash"
                  label={t.removeHeader(header.name)}
                  onClick={() => drop(header.id)}
                />
              </div>
            ))}
          <Button small icon="plus" onClick={() => add({})}>
            {t.addHeader}
          </Button>
        </div>
        <label className="row">
          <input type="checkbox" checked={asks} onChange={(event) => setAsks(event.target.checked)} />
          {t.alwaysAsk}
        </label>
        <ServerTrialResult trial={trial} />
        {failure !== null && <Failure error={failure} />}
        <div className="st-foot">
          <Button disabled={trial.testing || (!isKept && !url.trim())} onClick={test}>
            {trial.testing ? t.testing : t.test}
          </Button>
          <Button kind="primary" type="submit" disabled={saving || !name.trim()}>
            {saving ? t.saving : server ? t.save : t.add}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

const nextId = (all: readonly Header[]) => 1 + Math.max(-1, ...all.map(({ id }) => id));

/** A token is entered without the word "Bearer"; an empty field keeps what is stored. */
function sent({ name, value, stored }: Header): [string, string | null] {
  const given = value.trim();
  if (!given && stored) return [name.trim(), null];
  const isToken = name.toLowerCase() === "authorization" && given && !given.includes(" ");
  return [name.trim(), isToken ? `Bearer ${given}` : given];
}
