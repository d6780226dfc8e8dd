import "./tools.css";
import { memo } from "react";
import type { Status, ToolPart } from "../../../core/answer";
import { serverText } from "../../../core/texts";
import { chatText } from "../../i18n/chat";
import { useText } from "../../i18n/language";
import { useTold } from "../../i18n/told";
import { Icon } from "../../ui/icon";

const LONGEST = 20_000;

type Look = "run" | "good" | "bad" | "wait" | "off";

interface Props {
  tool: ToolPart;
  status: Status;
  decision?: boolean;
}

/** What a tool was asked and what it gave back, folded until somebody wants to know. */
export const ToolCard = memo(function ToolCard({ tool, status, decision }: Props) {
  const t = useText(chatText);
  const say = useTold();
  const look = lookOf(tool, status, decision);
  const words: Record<Look, string> = {
    run: t.toolRunning,
    good: t.toolDone,
    bad: decision === false ? t.toolRefused : t.toolFailed,
    wait: t.toolWaiting,
    off: t.toolUnfinished,
  };
  const time = tool.milliseconds === null ? "" : t.seconds(tool.milliseconds / 1000);
  return (
    <details className="tool" data-state={look}>
      <summary aria-label={[t.toolUsed(tool.name, words[look]), time].filter(Boolean).join(", ")}>
        <Icon name="tool" size={16} />
        <span className="tool-name">{tool.name}</span>
        <span className="tool-brief ellipsis">{brief(tool.arguments)}</span>
        <span className={`tool-state ${look}`}>
          {look === "good" && <Icon name="check" size={16} />}
          {look === "bad" && <Icon name="warn" size={16} />}
          {look === "good" && time ? time : words[look]}
        </span>
        <Icon name="down" size={16} />
      </summary>
      <div className="tool-body">
        <h4>{t.toolArguments}</h4>
        <Arguments value={tool.arguments} />
        {tool.result && (
          <>
            <h4>{tool.result.isError ? t.toolError : t.toolResult}</h4>
            <pre className={tool.result.isError ? "bad" : ""} tabIndex={0}>
              {tool.result.isError
                ? say(serverText(pretty(tool.result.content)))
                : pretty(tool.result.content)}
            </pre>
          </>
        )}
      </div>
    </details>
  );
});

export function Arguments({ value }: { value: Record<string, unknown> }) {
  const t = useText(chatText);
  if (!Object.keys(value).length) return <p className="muted small">{t.toolNoArguments}</p>;
  return <pre tabIndex={0}>{cut(JSON.stringify(value, null, 2))}</pre>;
}

function lookOf(tool: ToolPart, status: Status, decision: boolean | undefined): Look {
  if (tool.result) return tool.result.isError ? "bad" : "good";
  if (status !== "streaming") return "off";
  return tool.needsApproval && decision === undefined ? "wait" : "run";
}

function brief(value: Record<string, unknown>): string {
  const shown = Object.values(value).filter((one) => typeof one === "string" || typeof one === "number");
  return shown.join(" · ").slice(0, 200);
}

function pretty(content: string): string {
  if (content.length < LONGEST && /^\s*[[{]/.test(content)) {
    try {
      return JSON.stringify(JSON.parse(content), null, 2);
    } catch {
      return content;
    }
  }
  return cut(content);
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
