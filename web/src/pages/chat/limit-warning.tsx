import { date } from "../../i18n/dates";
import { useLanguage, useText } from "../../i18n/language";
import { warningText } from "../../i18n/strings/limit-warning";
import { hrefTo } from "../../route";
import { Notice } from "../../ui/feedback";
import type { MonthState } from "../usage/usage";

/** The limit that is used most. */
export default function LimitWarning({ month }: { month: MonthState }) {
  const t = useText(warningText);
  const language = useLanguage();
  const limit = month.limits[0];
  if (!limit) return null;
  const day = date(month.renews_at.slice(0, 10), language);
  const percent = new Intl.NumberFormat(language, { style: "percent" }).format(limit.share);
  const reached = limit.state === "reached";
  return (
    <div className="chat-notice limit-notice" role="status">
      <Notice kind="warn" action={<a href={hrefTo("usage")}>{t.details}</a>}>
        {reached ? t[`${limit.scope}Reached`](day) : t[limit.scope](percent, day)}
      </Notice>
    </div>
  );
}
