import { useState } from "react";
import { useText } from "../../i18n/language";
import { serversText } from "../../i18n/strings/servers";
import { ErrorNotice, Skeletons } from "../../ui/feedback";
import { type Host, useConnections } from "./servers";
import { Snippet } from "./snippet";

export function ConnectPanel() {
  const t = useText(serversText);
  const { data, error, refetch } = useConnections();
  const [chosen, setChosen] = useState("claude-code");
  const host = data?.hosts.find(({ id }) => id === chosen) ?? data?.hosts[0];
  return (
    <section className="card stack" aria-labelledby="sv-connect">
      <div>
        <h2 id="sv-connect">{t.connect}</h2>
        <p className="muted">{t.connectLead}</p>
      </div>
      {error && <ErrorNotice error={error} retry={() => refetch()} />}
      {!data && !error && <Skeletons lines={3} />}
      {data && (
        <fieldset className="sv-hosts" aria-label={t.assistant}>
          {data.hosts.map(({ id, name }) => (
            <button
              key={id}
              type="button"
              className="sv-host"
              aria-pressed={id === host?.id}
              onClick={() => setChosen(id)}
            >
              {name}
            </button>
          ))}
        </fieldset>
      )}
      {host && <HostSnippet host={host} />}
      {host && (
        <p className="small">
          <span className="muted">{t.afterwards}</span> {t.example}
        </p>
      )}
    </section>
  );
}

function HostSnippet({ host }: { host: Host }) {
  const t = useText(serversText);
  return (
    <div className="sv-snippet">
      <p className="small">
        {host.file ? (
          <>
            {t.into} <code>{host.file}</code>
          </>
        ) : (
          t.run
        )}
      </p>
      <Snippet text={host.text} label={host.name} />
      {host.id === "claude-desktop" && <p className="muted small">{t.desktopHint}</p>}
    </div>
  );
}
