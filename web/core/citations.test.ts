import { describe, expect, it } from "vitest";
import type { ToolPart } from "./answer";
import { citationsOf, citedIn, citedNotes, markSupported } from "./citations";
import { remarkCitations } from "./remark-citations";

function tool(content: unknown, isError = false): ToolPart {
  const result = { content: typeof content === "string" ? content : JSON.stringify(content), isError };
  return {
    type: "tool",
    key: 0,
    id: "1",
    name: "t",
    arguments: {},
    needsApproval: false,
    result,
    startedAt: null,
    milliseconds: null,
  };
}

const NOTE = {
  id: "k-0123456789abcdef",
  title: "題",
  content: "本文",
  source: "javascript:alert(1)",
  updated_at: "2026-10-01T00:00:00Z",
};

describe("sources of an answer", () => {
  it("are the notes that a search found, numbered, each once", () => {
    const found = citationsOf([
      tool({ hits: [NOTE, { ...NOTE, id: "k-ff", title: "b" }] }),
      tool({ hits: [NOTE] }),
    ]);
    expect(found.map(({ number, title, noteId }) => [number, title, noteId])).toEqual([
      [1, "題", "k-0123456789abcdef"],
      [2, "b", "k-ff"],
    ]);
  });

  it("are the passages that a knowledge base cites, named by their file", () => {
    const [source] = citationsOf([
      tool({
        answer: "…",
        citations: [{ content: "passage", uri: "https://docs.test/%E6%89%8B%E9%A0%86.pdf?x=1" }],
      }),
    ]);
    expect(source).toMatchObject({
      number: 1,
      title: "手順.pdf",
      link: "https://docs.test/%E6%89%8B%E9%A0%86.pdf?x=1",
    });
  });

  it("link to http and https alone", () => {
    expect(citationsOf([tool({ hits: [NOTE] })])[0]?.link).toBeNull();
    expect(citationsOf([tool({ results: [{ content: "x", uri: "s3://bucket/a.md" }] })])[0]).toMatchObject({
      link: null,
      title: "a.md",
    });
  });

  it("come neither from errors nor from text that is not JSON", () => {
    expect(
      citationsOf([tool({ hits: [NOTE] }, true), tool("{broken"), tool("plain"), tool([1, null])]),
    ).toEqual([]);
  });
});

describe("sentences that a source supports", () => {
  const answer = "𠮷野家の規則です。会議は月曜です。";
  const found = citationsOf([
    tool({
      answer,
      citations: [
        { content: "p1", uri: "https://docs.test/a.md", spans: [{ start: 0, end: 9 }] },
        {
          content: "p2",
          uri: "https://docs.test/b.md",
          spans: [
            { start: 9, end: 17 },
            { start: 0, end: 9 },
          ],
        },
      ],
    }),
  ]);

  it("get its number where the answer repeats them word for word", () => {
    expect(markSupported(`はい。${answer}`, found)).toBe(
      "はい。𠮷野家の規則です。 [1, 2]会議は月曜です。 [2]",
    );
  });

  it("get none where the answer words it differently", () => {
    expect(markSupported("会議は火曜です。", found)).toBe("会議は火曜です。");
  });
});

describe("what an answer cites", () => {
  const found = citationsOf([
    { ...tool({ hits: [{ ...NOTE, id: "sample-nginx", title: "a" }, NOTE] }), name: "search_knowledge" },
  ]);

  it.each([
    ["see [1].", [1]],
    ["見よ[2]：次の手順", [2]],
    ["reasons [1]: first, and [2](see below)", [1, 2]],
    ["`sample-nginx` と【2】", [1, 2]],
    ["[1](https://example.test) and [2]: https://example.test", []],
    ["nothing", []],
  ])("%s", (text, numbers) => expect(citedIn(text, found).map(({ number }) => number)).toEqual(numbers));

  it("opens notes with ids of any form, if a tool of notes returned them", () => {
    expect(found.map(({ noteId }) => noteId)).toEqual(["sample-nginx", "k-0123456789abcdef"]);
    expect(citationsOf([tool({ hits: [{ id: "doc-1", content: "x" }] })])[0]?.noteId).toBeNull();
  });
});

describe("numbers in an answer", () => {
  const run = (value: string, count: number) => {
    type Node = { type: string; value?: string; url?: string };
    const paragraph: { type: string; children: Node[] } = {
      type: "paragraph",
      children: [{ type: "text", value }],
    };
    const citations = Array.from({ length: count }, (_, index) => ({ noteId: `k-${index}` }));
    remarkCitations({ citations })({ type: "root", children: [paragraph] });
    return paragraph.children.map((node) => node.url ?? node.value);
  };

  it("become links to the sources", () => {
    expect(run("復旧した [1]。詳細 [1, 2]【2】", 2)).toEqual([
      "復旧した ",
      "#cite-1",
      "。詳細 ",
      "#cite-1",
      "#cite-2",
      "#cite-2",
    ]);
  });

  it("may be a note's id", () => {
    const paragraph: { type: string; children: { type: string; value?: string; url?: string }[] } = {
      type: "paragraph",
      children: [
        { type: "inlineCode", value: "k-abc" },
        { type: "inlineCode", value: "k-other" },
      ],
    };
    remarkCitations({ citations: [{ noteId: "k-abc" }] })({ type: "root", children: [paragraph] });
    expect(paragraph.children.map((node) => node.url ?? node.value)).toEqual(["#cite-1", "k-other"]);
  });

  it("stay text where there is no such source", () => {
    expect(run("array[3] and [x]", 2)).toEqual(["array[3] and [x]"]);
    expect(run("[1]", 0)).toEqual(["[1]"]);
  });
});

describe("the notes that an answer cites", () => {
  const found = citationsOf([
    tool({
      hits: [
        { id: "k-1", title: "一", content: "一" },
        { id: "k-2", title: "two", content: "two" },
        { id: "k-3", title: "three", content: "three" },
      ],
    }),
  ]);

  it.each([
    ["raise the limit [1, 3]", ["k-1", "k-3"]],
    ["上限を上げる【2】", ["k-2"]],
    ["> quoted · `k-3`", ["k-3"]],
    ["nothing of it", []],
    ["see [4]", []],
  ])("%s", (text, notes) => expect(citedNotes(text, found)).toEqual(notes));
});
