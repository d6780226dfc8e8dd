import { describe, expect, it } from "vitest";
import { citedIn, markSupported } from "./citations";
import { markFormulas } from "./formulas";
import { splitBlocks } from "./markdown-blocks";
import { variablesIn } from "./prompt-template";
import { fold, occurrences } from "./text-search";

const SIZE = 200_000;
const MILLISECONDS = 1_500;
const PUMPS = [
  ..."[](){}`$\\*_~<>#|-=:.,/ \n\ta1あ。「👍",
  ...[
    "[1](",
    "[1]: ",
    "[\n",
    "](",
    "![",
    "{{",
    "{{a=",
    "$ ",
    "$$",
    "\\(",
    "\\[",
    "`a",
    "``",
    "```\n",
    "\n\n",
  ],
  ...["[[a", "【1", "[1, ", "<a ", "&a", "\n ", " \n", "> ", "- ", "\n- ", "k-1", "`k-", "a\u0301", "1 a"],
];
const CITATIONS: Parameters<typeof citedIn>[1] = [
  {
    number: 1,
    key: "k-1",
    title: "a",
    snippet: "a",
    noteId: "k-1",
    link: null,
    source: null,
    date: null,
    tool: "search_knowledge",
    supports: ["a"],
  },
];

const READERS: Record<string, (text: string) => unknown> = {
  citedIn: (text) => citedIn(text, CITATIONS),
  markSupported: (text) => markSupported(text, CITATIONS),
  markFormulas,
  splitBlocks,
  variablesIn,
  occurrences: (text) => occurrences(fold(text), "zz"),
};

describe("text that a model or another person wrote", () => {
  for (const [name, read] of Object.entries(READERS)) {
    it(`is read in a moment by ${name}, however it repeats itself`, { timeout: 120_000 }, () => {
      const slow = PUMPS.filter((pump) => {
        const text = pump.repeat(SIZE / pump.length);
        return [1, 2, 3].every(() => {
          const before = performance.now();
          read(text);
          return performance.now() - before > MILLISECONDS;
        });
      });
      expect(slow).toEqual([]);
    });
  }
});
