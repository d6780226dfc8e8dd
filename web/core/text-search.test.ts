import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fold, occurrences } from "./text-search";

const found = (text: string, query: string) =>
  occurrences(text, fold(query)).map(([start, end]) => text.slice(start, end));

describe("searching a text", () => {
  it.each([
    ["nginx の障害、NGINX の障害", "ｎｇｉｎｘ", ["nginx", "NGINX"]],
    ["ﾃﾞﾌﾟﾛｲの手順", "デプロイ", ["ﾃﾞﾌﾟﾛｲ"]],
    ["Straße 🎉 straße", "STRASSE", ["Straße", "straße"]],
    ["\u{1d400}bc 検索", "a", ["\u{1d400}"]],
    ["한국어", "한", ["한"]],
    ["aaaa", "aa", ["aa", "aa"]],
    ["nothing", "absent", []],
    ["nothing", "", []],
  ])("%s: %s", (text, query, marks) => {
    expect(found(text, query)).toEqual(marks);
  });

  it("marks what was searched, whatever stands around it", () => {
    const letters = fc.string({ unit: fc.constantFrom(..."aＡﾃﾞデ\u3099ßﬃé\u0301한🎉障 ") });
    fc.assert(
      fc.property(letters, letters, (before, after) => {
        const marks = found(`${before} 目印 ${after}`, "目印");
        expect(marks.length).toBeGreaterThan(0);
        for (const mark of marks) expect(fold(mark)).toBe("目印");
      }),
    );
  });
});
