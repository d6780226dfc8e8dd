import { expect, test } from "vitest";
import { ago, type DateGroup, dateGroup, localDay, monthName } from "./dates";

const NOW = new Date(2026, 10, 15, 9, 30);

test.each<[string, Date, DateGroup]>([
  ["this minute", NOW, "today"],
  ["just after midnight", new Date(2026, 10, 15, 0, 0, 0), "today"],
  ["just before midnight", new Date(2026, 10, 14, 23, 59, 59), "yesterday"],
  ["yesterday's first moment", new Date(2026, 10, 14), "yesterday"],
  ["two days ago", new Date(2026, 10, 13, 23, 59), "week"],
  ["seven days ago", new Date(2026, 10, 8), "week"],
  ["eight days ago", new Date(2026, 10, 7, 23, 59), "month"],
  ["thirty days ago", new Date(2026, 9, 16), "month"],
  ["before that, in the same month", new Date(2026, 9, 15, 23, 59), "2026-10"],
  ["last year", new Date(2025, 11, 31, 23, 59), "2025-12"],
  ["a clock that is ahead", new Date(2026, 10, 15, 9, 31), "today"],
])("%s", (_, moment, group) => {
  expect(dateGroup(moment.toISOString(), NOW)).toBe(group);
});

test("months have names in both languages", () => {
  expect(monthName("2026-08", "en")).toBe("August 2026");
  expect(monthName("2026-08", "ja")).toBe("2026年8月");
  expect(monthName("2025-12", "ja")).toBe("2025年12月");
});

const at = (...moment: [number, number, number, number, number, number?]) => new Date(...moment);

test.each<[Date, string, string]>([
  [at(2026, 10, 15, 9, 29, 20), "now", "今"],
  [at(2026, 10, 15, 9, 29, 10), "1 minute ago", "1 分前"],
  [at(2026, 10, 15, 8, 30, 20), "59 minutes ago", "59 分前"],
  [at(2026, 10, 15, 8, 30), "1 hour ago", "1 時間前"],
  [at(2026, 10, 14, 9, 45), "23 hours ago", "23 時間前"],
  [at(2026, 10, 14, 9, 30), "yesterday", "昨日"],
  [at(2026, 10, 14, 0, 0), "yesterday", "昨日"],
  [at(2026, 10, 13, 23, 59), "2 days ago", "一昨日"],
  [at(2026, 10, 9, 0, 0), "6 days ago", "6 日前"],
  [at(2026, 10, 8, 23, 59), "Nov 8, 2026", "2026年11月8日"],
  [at(2026, 10, 15, 9, 31), "now", "今"],
])("%s was %s", (moment, english, japanese) => {
  expect(ago(moment.toISOString(), "en", NOW.getTime())).toBe(english);
  expect(ago(moment.toISOString(), "ja", NOW.getTime())).toBe(japanese);
});

test("text that is not a date is returned unchanged", () => {
  expect(ago("one day", "en")).toBe("one day");
});

test("days are counted by the local calendar, also just after midnight and across months", () => {
  expect(localDay(new Date(2026, 2, 1, 0, 5))).toBe("2026-03-01");
  expect(localDay(new Date(2026, 2, 1, 23, 55))).toBe("2026-03-01");
  expect(localDay(new Date(2026, 2, 1, 0, 5), 7)).toBe("2026-02-22");
  expect(localDay(new Date(2026, 0, 1, 0, 5), 1)).toBe("2025-12-31");
});
