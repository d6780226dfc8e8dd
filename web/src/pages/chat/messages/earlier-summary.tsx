import "../tools/tools.css";
import { memo } from "react";
import type { SummaryPart } from "../../../../core/answer";
import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { Icon } from "../../../ui/icon";

/** What the model reads in place of the oldest turns. They stay on the page and in the session. */
export const EarlierSummary = memo(function EarlierSummary({
  part,
  live,
}: {
  part: SummaryPart;
  live: boolean;
}) {
  const t = useText(chatText);
  const writing = live && part.text === null;
  if (part.text === null && !live) return null;
  const label = writing
    ? t.summarising
    : part.text
      ? t.summarised(part.questions)
      : t.leftOut(part.questions);
  return (
    <details className="tool reasoning" data-state={writing ? "run" : "good"}>
      <summary aria-label={label}>
        <Icon name="history" size={16} />
        <span className={writing ? "tool-state run" : ""}>{label}</span>
        <span className="tool-brief" />
        <Icon name="down" size={16} />
      </summary>
      <div className="tool-body">
        {part.text && (
          <div className="reasoning-text" tabIndex={0}>
            {part.text}
          </div>
        )}
        <p className="muted small">{part.text ? t.summaryNote : t.leftOutNote}</p>
      </div>
    </details>
  );
});
