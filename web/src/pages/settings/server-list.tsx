import { useState } from "react";
import { messageIn } from "../../../core/server-message";
import { ago } from "../../i18n/dates";
import { useLanguage, useText } from "../../i18n/language";
import { settingsText } from "../../i18n/strings/settings";
import { Translated } from "../../i18n/translate";
import { hrefTo } from "../../route";
import { Button, LinkButton } from "../../ui/button";
import { ErrorNotice, Notice, Skeletons } from "../../ui/feedback";
import { type ServerState, useServers } from "../servers/servers";
import { addedServers, type ServerTrial } from "./added-servers";
import { Removal } from "./removal";
import { ServerDialog } from "./server-form";
import { ServerTrialResult, useTrial } from "./trial";

/** The MCP servers that were added here. All of them, with their tools, are on the Servers page. */
export function ServerSection() {
  const t = useText(settingsText);
  const { servers, error, loading, refetch } = useServers();
  const [edited, setEdited] = useState<ServerState | "new" | null>(null);
  const added = servers.filter((server) => server.added);
  return (
    <section aria-labelledby="st-servers">
      <div className="st-head">
        <h2 id="st-servers">{t.servers}</h2>
        <Button small icon="plus" onClick={() => setEdited("new")}>
          {t.addServer}
        </Button>
      </div>
      <p className="muted">{t.serversLead}</p>
      {error && <ErrorNotice error={error} retry={() => refetch()} />}
      {loading && <Skeletons lines={1} height="4rem" />}
      {!loading && !error && added.length === 0 && <Notice>{t.noServers}</Notice>}
      <ul className="st-list">
        {added.map((server) => (
          <Entry key={server.name} server={server} edit={() => setEdited(server)} />
        ))}
      </ul>
      {added.length > 0 && (
        <p>
          <LinkButton small icon="plug" href={hrefTo("servers")}>
            {t.toServers}
          </LinkButton>
        </p>
      )}
      {edited && <ServerDialog server={edited === "new" ? null : edited} onClose={() => setEdited(null)} />}
    </section>
  );
}

function Entry({ server, edit }: { server: ServerState; edit: () => void }) {
  const t = useText(settingsText);
  const language = useLanguage();
  const [removing, setRemoving] = useState(false);
  const trial = useTrial<ServerTrial>();
  const details = server.added;
  if (!details) return null;
  return (
    <li className="card st-entry">
      <div className="row wrap">
        <h3>{server.name}</h3>
        {!details.readable && <span className="st-chip unreadable">{t.serverUnreadable}</span>}
        <span className="grow" />
        <Button
          small
          disabled={trial.testing || !details.readable}
          aria-label={`${t.test}: ${server.name}`}
          onClick={() => void trial.run(() => addedServers.test({ name: server.name, added: true }))}
        >
          {trial.testing ? t.testing : t.test}
        </Button>
        <Button small icon="edit" aria-label={`${t.edit}: ${server.name}`} onClick={edit}>
          {t.edit}
        </Button>
        <Button
          small
          icon="trash"
          aria-label={`${t.remove}: ${server.name}`}
          onClick={() => setRemoving(true)}
        >
          {t.remove}
        </Button>
      </div>
      <div className="st-facts">
        <code>{details.query ? `${details.url}?…` : details.url}</code>
        {details.headers.map((name) => (
          <code key={name}>{name}: ••••</code>
        ))}
        {details.always_ask && <span>{t.alwaysAsk}</span>}
        {details.changed_at && <span>{t.changed(ago(details.changed_at, language))}</span>}
      </div>
      {!details.readable && (
        <p>
          <Translated message={messageIn(server, "error")} />
        </p>
      )}
      {removing && (
        <Removal
          question={t.confirmServer(server.name)}
          remove={() => addedServers.remove(server.name)}
          cancel={() => setRemoving(false)}
        />
      )}
      <ServerTrialResult trial={trial} />
    </li>
  );
}
