import type { Language } from "./language";

/** "3 minutes ago", 「3分前」, rounded down; days by the reader's calendar; the date after a week. */
export function ago(iso: string, language: Language, now = Date.now()): string {
  const moment = new Date(iso);
  const seconds = (now - moment.getTime()) / 1000;
  const format = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  if (seconds < 45) return format.format(0, "second");
  if (seconds < 3600) return format.format(-Math.max(1, Math.floor(seconds / 60)), "minute");
  if (seconds < 86_400) return format.format(-Math.floor(seconds / 3600), "hour");
  const days = midnights(moment, new Date(now));
  if (days < 7) return format.format(-days, "day");
  return date(iso, language);
}

/** The number of midnights between two moments, independent of clock changes. */
function midnights(from: Date, to: Date): number {
  const day = (moment: Date) => Date.UTC(moment.getFullYear(), moment.getMonth(), moment.getDate());
  return (day(to) - day(from)) / 86_400_000;
}

/** Text that is not a date is returned unchanged. */
export function date(iso: string, language: Language): string {
  if (Number.isNaN(Date.parse(iso))) return iso;
  return new Intl.DateTimeFormat(language, { year: "numeric", month: "short", day: "numeric" }).format(
    new Date(iso),
  );
}

export function dateTime(iso: string, language: Language): string {
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(new Date(iso));
}

/** A day by the reader's calendar, such as "2026-08-03", some days before `now`. */
export function localDay(now: Date, daysBefore = 0): string {
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysBefore);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

/** After thirty days it is the month, such as "2026-08". */
export type DateGroup = "today" | "yesterday" | "week" | "month" | `${number}-${string}`;

/** By the reader's calendar: days begin at local midnight, also across clock changes. */
export function dateGroup(iso: string, now = new Date()): DateGroup {
  const moment = new Date(iso);
  const daysAgo = (days: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - days);
  if (moment >= daysAgo(0)) return "today";
  if (moment >= daysAgo(1)) return "yesterday";
  if (moment >= daysAgo(7)) return "week";
  if (moment >= daysAgo(30)) return "month";
  return `${moment.getFullYear()}-${String(moment.getMonth() + 1).padStart(2, "0")}`;
}

/** "August 2026", 「2026年8月」. */
export function monthName(month: string, language: Language): string {
  const [year, number] = month.split("-").map(Number);
  return new Intl.DateTimeFormat(language, { year: "numeric", month: "long" }).format(
    new Date(year ?? 0, (number ?? 1) - 1),
  );
}
