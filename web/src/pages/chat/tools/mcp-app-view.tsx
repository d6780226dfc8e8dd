import { useEffect, useRef, useState } from "react";
import type { ToolPart, ViewRef } from "../../../../core/answer";
import { ApiError, api, apiUrl } from "../../../api";
import { useLanguage, useText } from "../../../i18n/language";
import { toolsText } from "../../../i18n/strings/tools";
import { theme } from "../../../theme";
import { Button } from "../../../ui/button";
import Arguments from "./arguments";

const MAX_HEIGHT_PX = 2_000;
const MAX_WAITING = 5;
const DARK = "(prefers-color-scheme: dark)";
const NEEDS_APPROVAL = "toolbox.view_call_needs_approval";

interface Call {
  name: string;
  arguments: Record<string, unknown>;
}

/** What a view wants and the user has not decided yet. */
type Consent = { key: number; decide: (allowed: boolean) => void } & (
  | { type: "call"; call: Call }
  | { type: "link"; url: URL }
);

interface Request {
  jsonrpc?: string;
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
}

/**
 * A view of an MCP App. Its frame has no origin: no cookies, no storage, no access to this page. It talks to us by
 * postMessage only, and everything that it asks for is checked here or by the server.
 */
export default function ToolView({ tool, view }: { tool: ToolPart; view: ViewRef }) {
  const t = useText(toolsText);
  const language = useLanguage();
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(120);
  const [consents, setConsents] = useState<Consent[]>([]);
  const waiting = useRef(0);
  const key = useRef(0);
  const ready = useRef(false);
  useEffect(() => {
    const post = (message: object) =>
      // A frame without an origin cannot be named; the message goes to this one window.
      frame.current?.contentWindow?.postMessage({ jsonrpc: "2.0", ...message }, "*");
    const context = () => ({ theme: dark() ? "dark" : "light", locale: language });
    const tell = () =>
      ready.current && post({ method: "ui/notifications/host-context-changed", params: context() });
    const consent = (what: { type: "call"; call: Call } | { type: "link"; url: URL }) =>
      new Promise<boolean>((resolve) => {
        if (waiting.current >= MAX_WAITING) return resolve(false);
        waiting.current += 1;
        key.current += 1;
        const own = key.current;
        const decide = (allowed: boolean) => {
          waiting.current -= 1;
          setConsents((all) => all.filter((one) => one.key !== own));
          resolve(allowed);
        };
        setConsents((all) => [...all, { ...what, key: own, decide }]);
      });
    const call = async (given: Call): Promise<object> => {
      const path = `api/mcp/servers/${encodeURIComponent(view.server)}/view/call`;
      const body = { tool: given.name, arguments: given.arguments };
      try {
        return await api.post<object>(path, body);
      } catch (error) {
        if (!(error instanceof ApiError) || error.reason.code !== NEEDS_APPROVAL) throw error;
      }
      if (await consent({ type: "call", call: given }))
        return api.post<object>(path, { ...body, approved: true });
      return { isError: true, content: [{ type: "text", text: "The user did not approve this call." }] };
    };
    const answer = async ({ method, params = {} }: Request): Promise<object | null> => {
      switch (method) {
        case "ui/initialize":
          return {
            protocolVersion: params.protocolVersion,
            hostInfo: { name: "Chie", version: "1" },
            hostCapabilities: { serverTools: {}, openLinks: {} },
            hostContext: { ...context(), displayMode: "inline", availableDisplayModes: ["inline"] },
          };
        case "ping":
          return {};
        case "ui/request-display-mode":
          return { mode: "inline" };
        case "tools/call":
          return call({ name: String(params.name), arguments: asObject(params.arguments) });
        case "ui/open-link": {
          const url = webUrl(params.url);
          if (!url || !(await consent({ type: "link", url }))) throw new Error("not opened");
          return {};
        }
        default:
          return null;
      }
    };
    const receive = async ({ source, data }: MessageEvent<Request>) => {
      if (source !== frame.current?.contentWindow || data?.jsonrpc !== "2.0" || !data.method) return;
      if (data.id === undefined) {
        if (data.method === "ui/notifications/initialized") {
          ready.current = true;
          post({ method: "ui/notifications/tool-input", params: { arguments: tool.arguments } });
          post({ method: "ui/notifications/tool-result", params: resultOf(tool) });
        } else if (data.method === "ui/notifications/size-changed") {
          const wanted = Number(data.params?.height);
          if (wanted > 0) setHeight(Math.min(Math.ceil(wanted), MAX_HEIGHT_PX));
        }
        return;
      }
      try {
        const result = await answer(data);
        if (result) post({ id: data.id, result });
        else post({ id: data.id, error: { code: -32601, message: "method not supported" } });
      } catch {
        post({ id: data.id, error: { code: -32000, message: "failed" } });
      }
    };
    const listen = (event: MessageEvent<Request>) => void receive(event);
    const system = matchMedia(DARK);
    tell(); // the language may have changed
    addEventListener("message", listen);
    system.addEventListener("change", tell);
    const unsubscribe = theme.subscribe(tell);
    return () => {
      removeEventListener("message", listen);
      system.removeEventListener("change", tell);
      unsubscribe();
    };
  }, [tool, view.server, language]);
  return (
    <div className="tool-view">
      <iframe
        ref={frame}
        title={t.viewTitle(tool.name, view.server)}
        src={apiUrl(`api/mcp/servers/${encodeURIComponent(view.server)}/view`, { uri: view.uri })}
        sandbox="allow-scripts"
        referrerPolicy="no-referrer"
        style={{ height }}
      />
      {consents.map((one) => (
        <ConsentPanel key={one.key} consent={one} server={view.server} />
      ))}
    </div>
  );
}

function ConsentPanel({ consent, server }: { consent: Consent; server: string }) {
  const t = useText(toolsText);
  const decision = useText(toolsText);
  if (consent.type === "link") {
    return (
      <section className="approval" aria-label={t.viewLink(server)}>
        <h3>{t.viewLink(server)}</h3>
        <p className="question-text">{consent.url.href}</p>
        <div className="row wrap">
          <a
            href={consent.url.href}
            target="_blank"
            rel="noopener noreferrer"
            onClick={() => consent.decide(true)}
          >
            {t.openUrl}
          </a>
          <Button small onClick={() => consent.decide(false)}>
            {decision.deny}
          </Button>
        </div>
      </section>
    );
  }
  return (
    <section className="approval" aria-label={`${t.viewCall(server)} ${consent.call.name}`}>
      <h3>
        {t.viewCall(server)} <code>{consent.call.name}</code>
      </h3>
      <Arguments value={consent.call.arguments} />
      <div className="row wrap">
        <Button kind="destructive" small onClick={() => consent.decide(true)}>
          {decision.allowOnce}
        </Button>
        <Button small onClick={() => consent.decide(false)}>
          {decision.deny}
        </Button>
      </div>
    </section>
  );
}

function resultOf({ result }: ToolPart): object {
  return {
    content: result?.blocks ?? [{ type: "text", text: result?.content ?? "" }],
    isError: result?.isError ?? false,
    ...(result?.structured && { structuredContent: result.structured }),
  };
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function webUrl(value: unknown): URL | null {
  if (typeof value !== "string" || !URL.canParse(value)) return null;
  const url = new URL(value);
  return /^https?:$/.test(url.protocol) ? url : null;
}

function dark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen === "dark" || (chosen !== "light" && matchMedia(DARK).matches);
}
