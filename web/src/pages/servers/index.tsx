import "./servers.css";
import { useState } from "react";
import { messageIn } from "../../../core/server-message";
import { api } from "../../api";
import { useText } from "../../i18n/language";
import { serversText } from "../../i18n/strings/servers";
import { ErrorText, Translated } from "../../i18n/translate";
import { queryClient } from "../../query";
import { Button } from "../../ui/button";
import { ErrorNotice, Notice, Page, Skeletons } from "../../ui/feedback";
import { Icon } from "../../ui/icon";
import { useToast } from "../../ui/toast";
import { useSetup } from "../setup/setup";
import { BedrockPanel } from "./bedrock";
import { ConnectPanel } from "./connect";
import { Login, useReturnFromLogin } from "./login";
import { type ServerState, useServers } from "./servers";

export default function ServersPage() {
  const t = useText(serversText);
  const { servers, error, loading, refetch } = useServers();
  useReturnFromLogin();
  const bedrock = useSetup().data?.servers.find(({ name }) => name === "bedrock-kb");
  return (
    <Page title={t.title} lead={t.lead}>
      <div className="stack">
        <section aria-labelledby="sv-tool-servers">
          <h2 id="sv-tool-servers" className="sv-heading">
            {t.toolServers}
          </h2>
          {error && <ErrorNotice error={error} retry={() => refetch()} />}
          {loading && <Skeletons lines={3} height="4rem" />}
          {!loading && !error && servers.length === 0 && <Notice>{t.noServers}</Notice>}
          <ul className="sv-list">
            {servers.map((server) => (
              <Server key={server.name} server={server} />
            ))}
          </ul>
        </section>
        <ConnectPanel />
        {bedrock && <BedrockPanel server={bedrock} />}
      </div>
    </Page>
  );
}

function Server({ server }: { server: ServerState }) {
  const t = useText(serversText);
  const transports = { "built-in": t.transport_builtin, stdio: t.transport_stdio, http: t.transport_http };
  return (
    <li className="card sv-server">
      <div className="row wrap">
        <h3>{server.name}</h3>
        <span className={`sv-state ${server.state}`}>
          {server.login === "required" ? t.state_login : t[`state_${server.state}`]}
        </span>
        <span className="muted small">{transports[server.transport]}</span>
        <span className="grow" />
        <Login server={server} />
        {["failed", "connected", "idle"].includes(server.state) && <Reconnect server={server} />}
      </div>
      {server.error && (
        <p className={server.state === "failed" ? "sv-error" : "muted"}>
          <Translated message={messageIn(server, "error")} />
        </p>
      )}
      <ChangedTools server={server} />
      {server.tools.length > 0 && (
        <details className="sv-tools">
          <summary>{t.tools(server.tools.length)}</summary>
          <ul>
            {server.tools.map((tool) => (
              <li key={tool.name}>
                <code>{tool.name}</code>
                {tool.destructive && (
                  <span className="sv-asks">
                    <Icon name="shield" size={14} /> {t.asks}
                  </span>
                )}
                {tool.changed && <span className="sv-asks">{t.changed}</span>}
                <p className="muted small">{tool.description.split("\n", 1)[0]}</p>
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

/** Tools that no longer are what the operator approved. */
function ChangedTools({ server }: { server: ServerState }) {
  const t = useText(serversText);
  const toast = useToast();
  const count = server.tools.filter((tool) => tool.changed).length;
  if (count === 0) return null;
  async function accept() {
    try {
      await api.post(`api/mcp/servers/${encodeURIComponent(server.name)}/accept`);
      toast(t.acceptedTools);
    } catch (error) {
      toast(<ErrorText error={error} />);
    } finally {
      void queryClient.invalidateQueries({ queryKey: ["servers"] });
    }
  }
  return (
    <Notice
      kind="warn"
      action={
        <Button small icon="check" aria-label={`${t.acceptTools}: ${server.name}`} onClick={accept}>
          {t.acceptTools}
        </Button>
      }
    >
      {t.changedTools(count)}
    </Notice>
  );
}

function Reconnect({ server }: { server: ServerState }) {
  const t = useText(serversText);
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  async function reconnect() {
    setBusy(true);
    try {
      await api.post(`api/mcp/servers/${encodeURIComponent(server.name)}/reconnect`);
      toast(t.reconnected);
    } catch (error) {
      toast(<ErrorText error={error} />);
    } finally {
      setBusy(false);
      void queryClient.invalidateQueries({ queryKey: ["servers"] });
    }
  }
  const label = busy ? t.reconnecting : server.state === "idle" ? t.connectNow : t.reconnect;
  return (
    <Button small icon="refresh" disabled={busy} aria-label={`${label}: ${server.name}`} onClick={reconnect}>
      {label}
    </Button>
  );
}
