import "../tools/tools.css";
import { memo } from "react";
import type { ReasoningPart } from "../../../../core/answer";
import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { Icon } from "../../../ui/icon";

/** What the model thought, collapsed by default; while it goes on, the summary shows its last line. */
export const Reasoning = memo(function Reasoning({ part, live }: { part: ReasoningPart; live: boolean }) {
  const t = useText(chatText);
  const seconds = part.milliseconds === null ? null : part.milliseconds / 1000;
  const label = live ? t.thinking : seconds === null ? t.thought : t.thoughtFor(seconds);
  return (
    <details className="tool reasoning" data-state={live ? "run" : "good"}>
      <summary aria-label={label}>
        <Icon name="spark" size={16} />
        <span className={live ? "tool-state run" : ""}>{label}</span>
        <span className="tool-brief ellipsis">{live ? lastLine(part.text) : ""}</span>
        <Icon name="down" size={16} />
      </summary>
      <div className="tool-body">
        <div className="reasoning-text" tabIndex={0}>
          {part.text.trim()}
        </div>
      </div>
    </details>
  );
});

function lastLine(text: string): string {
  const end = text.trimEnd();
  return end.slice(Math.max(end.lastIndexOf("\n") + 1, end.length - 200));
}
