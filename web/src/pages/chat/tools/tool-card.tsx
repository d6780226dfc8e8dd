import "./tools.css";
import { lazy, memo, Suspense, useState } from "react";
import type { Status, ToolOutcome, ToolPart } from "../../../../core/answer";
import { serverText } from "../../../../core/server-message";
import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { Translated, useTranslate } from "../../../i18n/translate";
import { Icon } from "../../../ui/icon";

const CallDetails = lazy(() => import("./call-preview"));
const Arguments = lazy(() => import("./arguments"));

type State = "run" | "good" | "bad" | "wait" | "off";

interface Props {
  tool: ToolPart;
  status: Status;
  decision?: boolean;
}

/** A tool call with its arguments and result, collapsed by default. */
export const ToolCard = memo(function ToolCard({ tool, status, decision }: Props) {
  const t = useText(chatText);
  const state = stateOf(tool, status, decision);
  const labels: Record<State, string> = {
    run: t.toolRunning,
    good: t.toolDone,
    bad: decision === false ? t.toolDenied : t.toolFailed,
    wait: t.toolWaiting,
    off: t.toolUnfinished,
  };
  const [open, setOpen] = useState(false);
  const time = tool.milliseconds === null ? "" : t.seconds(tool.milliseconds / 1000);
  return (
    <details className="tool" data-state={state} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Icon name="tool" size={16} />
        <span className="hidden-text">{t.toolWord} </span>
        {tool.preview ? (
          <span className="tool-sentence ellipsis">
            <Translated message={tool.preview} />
          </span>
        ) : (
          <span className="tool-name">{tool.name} </span>
        )}
        <span className="tool-brief ellipsis">{tool.preview ? "" : brief(tool.arguments)} </span>
        <span className={`tool-state ${state}`}>
          {state === "good" && <Icon name="check" size={16} />}
          {state === "bad" && <Icon name="warn" size={16} />}
          {state === "good" && time && <span className="hidden-text">{labels.good} </span>}
          {state === "good" && time
            ? time
            : state === "run"
              ? (progressText(tool) ?? labels.run)
              : labels[state]}
        </span>
        <Icon name="down" size={16} />
      </summary>
      <div className="tool-body">
        {tool.preview && <h4>{tool.name}</h4>}
        {!tool.preview && <h4>{t.toolArguments}</h4>}
        {open && (
          <Suspense fallback={null}>
            {tool.preview ? <CallDetails tool={tool} /> : <Arguments value={tool.arguments} />}
          </Suspense>
        )}
        {tool.progress && !tool.result && (
          <p className="tool-progress">
            <progress
              max={tool.progress.total ?? undefined}
              value={tool.progress.progress}
              aria-label={tool.name}
            />
            {tool.progress.message}
          </p>
        )}
        {tool.logs && (
          <>
            <h4>{t.toolLog}</h4>
            <pre className="tool-text" tabIndex={0}>
              {tool.logs.join("\n")}
            </pre>
          </>
        )}
        {tool.result && (
          <>
            <h4>{tool.result.isError ? t.toolError : t.toolResult}</h4>
            <pre className={tool.result.isError ? "tool-text bad" : "tool-text"} tabIndex={0}>
              <ResultText result={tool.result} />
            </pre>
          </>
        )}
      </div>
    </details>
  );
});

/** Results are shown word for word; errors of the server's catalogue are translated. */
function ResultText({ result }: { result: ToolOutcome }) {
  const translate = useTranslate();
  const text = prettyResult(result.content);
  if (!result.isError) return text;
  return translate({ text: serverText(text), code: result.code, params: result.params });
}

function stateOf(tool: ToolPart, status: Status, decision: boolean | undefined): State {
  if (tool.result) return tool.result.isError ? "bad" : "good";
  if (status !== "streaming") return "off";
  return tool.needsApproval && decision === undefined ? "wait" : "run";
}

/** How far a running tool is: its own words, or a percentage. */
function progressText({ progress }: ToolPart): string | null {
  if (!progress) return null;
  if (progress.message) return progress.message.slice(0, 60);
  return progress.total ? `${Math.round((100 * progress.progress) / progress.total)} %` : null;
}

function brief(value: Record<string, unknown>): string {
  const shown = Object.values(value).filter((one) => typeof one === "string" || typeof one === "number");
  return shown.join(" · ").slice(0, 200);
}

const MAX_SHOWN = 20_000;

/** JSON with indentation, anything else as it is; long texts are cut. */
export function prettyResult(content: string): string {
  if (content.length < MAX_SHOWN && /^\s*[[{]/.test(content)) {
    try {
      return JSON.stringify(JSON.parse(content), null, 2);
    } catch {
      return content;
    }
  }
  return content.length > MAX_SHOWN ? `${content.slice(0, MAX_SHOWN)}…` : content;
}
