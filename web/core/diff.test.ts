import fc from "fast-check";
import { expect, test } from "vitest";
import { difference, mergedText } from "./diff";

const shown = (before: string, after: string) =>
  difference(before, after)
    .map(({ kind, text }) => (kind === "same" ? text : kind === "added" ? `[+${text}]` : `[-${text}]`))
    .join("");

test("changed words within a line, in both languages", () => {
  expect(shown("raise the limit to 10\nend", "raise the limit to 20\nend")).toBe(
    "raise the limit to [-10][+20]\nend",
  );
  expect(shown("上限を増やす", "上限を減らす")).toMatch(/^上限を\[-.+\]\[\+.+\]$/);
});

test("an added line is added as a whole", () => {
  expect(shown("one\nthree\n", "one\ntwo\nthree\n")).toBe("one\n[+two\n]three\n");
});

test("both texts can be read from the difference", () => {
  const text = fc.array(fc.constantFrom("a", "b", " ", "\n", "知", "恵"), { maxLength: 30 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const parts = difference(before.join(""), after.join(""));
      const without = (kind: string) =>
        parts
          .filter((part) => part.kind !== kind)
          .map((part) => part.text)
          .join("");
      expect(without("added")).toBe(before.join(""));
      expect(without("removed")).toBe(after.join(""));
    }),
  );
});

test("merging keeps the existing text and adds only what it does not say", () => {
  expect(mergedText("one\ntwo", "two\nthree\n")).toBe("one\ntwo\n\nthree");
  expect(mergedText("one\ntwo", "two")).toBe("one\ntwo");
});
