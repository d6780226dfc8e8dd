import type { Language } from "./language";

const DAY = 86_400_000;

/** "3 minutes ago", 「3分前」; older than a week: the date. */
export function ago(iso: string, language: Language, now = Date.now()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  const format = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  if (seconds > -45) return format.format(0, "second");
  if (seconds > -3600) return format.format(Math.round(seconds / 60), "minute");
  if (seconds > -86_400) return format.format(Math.round(seconds / 3600), "hour");
  if (seconds > -7 * 86_400) return format.format(Math.round(seconds / 86_400), "day");
  return date(iso, language);
}

/** What is no date is shown as it came. */
export function date(iso: string, language: Language): string {
  if (Number.isNaN(Date.parse(iso))) return iso;
  return new Intl.DateTimeFormat(language, { year: "numeric", month: "short", day: "numeric" }).format(
    new Date(iso),
  );
}

export function dateTime(iso: string, language: Language): string {
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(new Date(iso));
}

export type DateGroup = "today" | "yesterday" | "week" | "month" | "older";

export function dateGroup(iso: string, now = new Date()): DateGroup {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const time = new Date(iso).getTime();
  if (time >= midnight) return "today";
  if (time >= midnight - DAY) return "yesterday";
  if (time >= midnight - 7 * DAY) return "week";
  if (time >= midnight - 30 * DAY) return "month";
  return "older";
}
