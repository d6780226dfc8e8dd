import { date } from "../../i18n/dates";
import { defineText, useLanguage, useText } from "../../i18n/language";
import { hrefTo } from "../../route";
import { Notice } from "../../ui/feedback";
import type { MonthState } from "./usage";

const warningText = defineText({
  en: {
    user: (percent: string, day: string) =>
      `You have used ${percent} of your limit for this month. It renews on ${day} (UTC).`,
    team: (percent: string, day: string) =>
      `The team has used ${percent} of its limit for this month. It renews on ${day} (UTC).`,
    userReached: (day: string) =>
      `Your limit for this month is used up. It renews on ${day} at 00:00 UTC; an admin can raise it.`,
    teamReached: (day: string) =>
      `The team's limit for this month is used up. It renews on ${day} at 00:00 UTC; an admin can raise it.`,
    details: "Usage",
  },
  ja: {
    user: (percent: string, day: string) =>
      `今月の上限の ${percent} を使いました。${day}（UTC）に更新されます。`,
    team: (percent: string, day: string) =>
      `チームの今月の上限の ${percent} を使いました。${day}（UTC）に更新されます。`,
    userReached: (day: string) =>
      `今月の上限に達しました。${day} 0:00（UTC）に更新されます。引き上げは管理者に依頼してください。`,
    teamReached: (day: string) =>
      `チームの今月の上限に達しました。${day} 0:00（UTC）に更新されます。引き上げは管理者に依頼してください。`,
    details: "使用量",
  },
});

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
