import { describe, expect, it } from "vitest";
import { splitBlocks } from "./markdown-blocks";

describe("blocks of Markdown", () => {
  it("join to the whole text again, for any text", () => {
    for (const text of [
      "a\n\nb",
      "```\nx\n\ny\n```\n\nz",
      "- a\n\n- b\n\n  c\n\nd",
      "| a |\n|---|\n\ne",
      "1. a\n\n   > q\n\n2. b\n",
    ]) {
      expect(splitBlocks(text).join("\n")).toBe(text);
    }
  });

  it("keep code with blank lines and loose lists together", () => {
    expect(splitBlocks("a\n\n```py\n1\n\n2\n```\n\nb")).toHaveLength(3);
    expect(splitBlocks("1. a\n\n   > q\n\n2. b\n\n   c\n\nd")).toHaveLength(2);
  });

  it("leave earlier blocks unchanged while the text grows", () => {
    const whole = "Hello **w**.\n\n- one\n- two\n\n```\ncode\n\nmore\n```\n\nEnd.";
    let before: string[] = [];
    for (let end = 1; end <= whole.length; end++) {
      const blocks = splitBlocks(whole.slice(0, end));
      if (blocks.length > before.length && before.length > 1) {
        expect(blocks.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
      }
      before = blocks;
    }
  });

  it("are one where a definition may be used anywhere", () => {
    expect(splitBlocks("see [a]\n\n[a]: http://example.test")).toHaveLength(1);
  });
});
