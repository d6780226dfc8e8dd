import { describe, expect, it } from "vitest";
import { asOf, completed, dates, matching, openFilter, searchable, withoutAsOf } from "./query-filters";

const tags = ["docker", "Docker Compose", "検索", "nginx"].map((value) => ({ value }));

describe("the filter at the caret", () => {
  it.each([
    ["tag:", { name: "tag", start: 4, typed: "" }],
    ["redis -tag:do", { name: "tag", start: 11, typed: "do" }],
    ["Tag：検", { name: "tag", start: 4, typed: "検" }],
    ['author:"Aki S', { name: "author", start: 7, typed: "Aki S" }],
    ["after:2026-0", { name: "after", start: 6, typed: "2026-0" }],
  ])("is found in %s", (text, expected) => {
    expect(openFilter(text, text.length)).toEqual(expected);
  });

  it.each(["", "tag", "image:tag", "http://x", "tag:docker ", 'tag:"a b"', "-author:x", "std::"])(
    "is not in %s",
    (text) => {
      expect(openFilter(text, text.length)).toBeNull();
    },
  );
});

describe("completion", () => {
  it("offers what begins with the text first, in any case and width", () => {
    expect(matching("Ｄo", tags).map(({ value }) => value)).toEqual(["docker", "Docker Compose"]);
    expect(matching("#comp", tags).map(({ value }) => value)).toEqual(["Docker Compose"]);
    expect(matching("", tags)).toHaveLength(4);
    expect(matching("nginx", tags)).toEqual([]);
  });

  it("replaces the value and quotes it if it has blanks", () => {
    const fill = (text: string, caret: number, value: string) => {
      const open = openFilter(text, caret);
      return open && completed(text, caret, open, value);
    };
    expect(fill("tag:do disk", 6, "docker")).toEqual({ text: "tag:docker disk", caret: 11 });
    expect(fill('x tag:"Docker C', 15, "Docker Compose")?.text).toBe('x tag:"Docker Compose" ');
  });

  it("leaves out what is still being typed", () => {
    for (const text of [
      "redis tag:",
      "redis -tag:",
      "redis after:20",
      'redis author:"',
      "redis before:2026-",
    ])
      expect(searchable(text)).toBe("redis");
    for (const text of ["redis tag:x", "after:2026-03", "after:yesterday", "after:20 redis"])
      expect(searchable(text)).toBe(text);
    expect(searchable("tag:")).toBe("");
  });

  it("has dates as examples", () => {
    const hints = { week: "w", month: "m", year: "y" };
    expect(dates(new Date("2026-03-02T10:00:00Z"), hints).map(({ value }) => value)).toEqual([
      "2026-02-23",
      "2026-03",
      "2026",
    ]);
  });
});

describe("the date of a search in the past", () => {
  it("is that of the last filter at:", () => {
    expect(asOf("接続 at:2026-03-01")).toBe("2026-03-01");
    expect(asOf("at:2025 nginx AT：2026/03")).toBe("2026/03");
    expect(asOf('at:"2026-03-01T09:00:00+09:00" nginx')).toBe("2026-03-01T09:00:00+09:00");
    for (const text of ["nginx", "failed at:10:30", "at:8080", "format:2026-03-01", "at:20261"]) {
      expect(asOf(text)).toBeNull();
      expect(withoutAsOf(text)).toBe(text);
    }
  });

  it("is taken out of the query", () => {
    expect(withoutAsOf("接続 at:2026-03-01 tag:db")).toBe("接続  tag:db");
    expect(withoutAsOf('at:"2026-03-01T09:00"')).toBe("");
  });
});
