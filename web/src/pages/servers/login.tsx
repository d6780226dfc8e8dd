import { useEffect, useRef, useState } from "react";
import { api } from "../../api";
import { useText } from "../../i18n/language";
import { serversText } from "../../i18n/strings/servers";
import { ErrorText } from "../../i18n/translate";
import { queryClient } from "../../query";
import { go, hrefTo, useRoute } from "../../route";
import { Button } from "../../ui/button";
import { useToast } from "../../ui/toast";
import type { ServerState } from "./servers";

const path = (name: string) => `api/mcp/servers/${encodeURIComponent(name)}/login`;

/** Logging in at a remote server, and out again. The provider's page takes the place of this one. */
export function Login({ server }: { server: ServerState }) {
  const t = useText(serversText);
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  if (!server.login) return null;
  async function start() {
    setBusy(true);
    try {
      const { url } = await api.post<{ url: string }>(path(server.name));
      location.assign(url);
    } catch (error) {
      toast(<ErrorText error={error} />);
      setBusy(false);
    }
  }
  async function end() {
    setBusy(true);
    try {
      await api.delete(path(server.name));
      toast(t.loggedOut);
    } catch (error) {
      toast(<ErrorText error={error} />);
    } finally {
      setBusy(false);
      void queryClient.invalidateQueries({ queryKey: ["servers"] });
    }
  }
  const connected = server.login === "connected";
  const label = connected ? t.logOut : t.logIn;
  return (
    <Button
      small
      kind={connected ? "plain" : "primary"}
      disabled={busy}
      aria-label={`${label}: ${server.name}`}
      onClick={connected ? end : start}
    >
      {busy && !connected ? t.loggingIn : label}
    </Button>
  );
}

/** Finishes the login with which the provider has sent the user back to `#/servers/login?…`. */
export function useReturnFromLogin(): void {
  const t = useText(serversText);
  const toast = useToast();
  const { rest, query } = useRoute();
  const done = useRef(false);
  const returned = rest[0] === "login" && query.has("state");
  useEffect(() => {
    if (!returned || done.current) return;
    done.current = true;
    const given = Object.fromEntries(query);
    go(hrefTo("servers"), { replace: true }); // the code must not stay in the history
    api
      .post("api/mcp/oauth/finish", given)
      .then(() => toast(t.loggedIn))
      .catch((error: unknown) => toast(<ErrorText error={error} />))
      .finally(() => void queryClient.invalidateQueries({ queryKey: ["servers"] }));
  }, [returned, query, t, toast]);
}
