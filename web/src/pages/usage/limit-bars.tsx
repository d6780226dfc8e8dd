import { count, dollars } from "../../i18n/amounts";
import { date } from "../../i18n/dates";
import { useLanguage, useText } from "../../i18n/language";
import { usageText } from "../../i18n/strings/usage";
import { Notice } from "../../ui/feedback";
import type { LimitState, MonthState } from "./usage";

export function LimitBars({ month }: { month: MonthState }) {
  const t = useText(usageText);
  const language = useLanguage();
  if (month.limits.length === 0) return null;
  return (
    <section>
      <h2 className="us-heading">{t.limits}</h2>
      <ul className="us-limits">
        {month.limits.map((limit) => (
          <Bar key={`${limit.scope} ${limit.kind}`} limit={limit} />
        ))}
      </ul>
      {month.limits.some((limit) => limit.state === "reached") && <Notice kind="bad">{t.reached}</Notice>}
      <p className="muted small">{t.renews(date(month.renews_at.slice(0, 10), language))}</p>
    </section>
  );
}

function Bar({ limit }: { limit: LimitState }) {
  const t = useText(usageText);
  const language = useLanguage();
  const show = (amount: number) =>
    limit.kind === "cost" ? dollars(amount, language) : count(amount, language);
  const percent = new Intl.NumberFormat(language, { style: "percent" }).format(limit.share);
  const used =
    limit.used === null || limit.limit === null
      ? percent
      : t.used(show(limit.used), show(limit.limit), percent);
  const name = t[`limit_${limit.scope}_${limit.kind}`];
  return (
    <li className={`us-limit ${limit.state}`}>
      <div className="row wrap">
        <span>{name}</span>
        <span className="grow" />
        <span className="muted small">{used}</span>
      </div>
      <meter aria-label={name} aria-valuetext={used} min={0} max={1} value={Math.min(limit.share, 1)} />
    </li>
  );
}
