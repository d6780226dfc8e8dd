import { expect, test } from "vitest";
import type { Ranges } from "../../../ui/highlighted";
import { plainText } from "./excerpt";

function marked(text: string, ranges: Ranges): string[] {
  const characters = [...text];
  return ranges.map(([from, to]) => characters.slice(from, to).join(""));
}

const at = (text: string, word: string): Ranges => {
  const from = [...text.slice(0, text.indexOf(word))].length;
  return [[from, from + [...word].length]];
};

test.each([
  ["## 手順\n\n**必ず**`nginx`を再起動", "手順\n\n必ずnginxを再起動", "nginx"],
  ["> quoted ~~old~~ text", "quoted old text", "text"],
  [
    "```nginx\nclient_max_body_size 50m;\n```\nthen reload",
    "client_max_body_size 50m;\nthen reload",
    "reload",
  ],
  ["see [the wiki](https://wiki.example.test/a) and ![plan](x.png)", "see the wiki and plan", "wiki"],
  ["𠮷野家の**障害**😀を直す", "𠮷野家の障害😀を直す", "直す"],
  ["| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n| 1 | 2 |", "2"],
  ["plain text, 5 * 3 and snake_case", "plain text, 5 * 3 and snake_case", "snake_case"],
])("%j is read as %j", (text, plain, word) => {
  const shown = plainText(text, at(text, word));
  expect(shown.text).toBe(plain);
  expect(marked(shown.text, shown.ranges)).toEqual([word]);
});

test("matched text is never removed", () => {
  const text = "see [the wiki](https://wiki.example.test/runbook)";
  const shown = plainText(text, at(text, "runbook"));
  expect(marked(shown.text, shown.ranges)).toEqual(["runbook"]);
});

test("no matches, no ranges", () => {
  expect(plainText("**a**", [])).toEqual({ text: "a", ranges: [] });
});
