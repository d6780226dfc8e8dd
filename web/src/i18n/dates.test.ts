import { expect, test } from "vitest";
import { type DateGroup, dateGroup, monthName } from "./dates";

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
