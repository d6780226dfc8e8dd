import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import ReactMarkdown from "react-markdown";
import remarkCjkFriendly from "remark-cjk-friendly";
import remarkGfm from "remark-gfm";
import { describe, expect, it } from "vitest";
import { remarkCitations } from "../../../../core/remark-citations";

function rendered(children: string): string {
  const citations = [{ noteId: "k-1" }, { noteId: "k-2" }];
  const remarkPlugins = [remarkGfm, remarkCjkFriendly, [remarkCitations, { citations }]];
  return renderToStaticMarkup(createElement(ReactMarkdown, { remarkPlugins, children } as never));
}

describe("a number of a source", () => {
  it.each([..."。、，．）」』】！？：；.,;:!?)]}…—・\"'", "", " "])("is a mark before %j", (next) => {
    expect(rendered(`復旧した [1]${next} then`)).toContain('<a href="#cite-1">1</a>');
    expect(rendered(`It works[2]${next}`)).toContain('<a href="#cite-2">2</a>');
  });

  it("is a mark in bold text, lists, tables and quotes", () => {
    for (const text of ["**結論 [1]**。", "- item [1].", "> quoted [1]、", "| a |\n|---|\n| b [1]; |"])
      expect(rendered(text)).toContain('<a href="#cite-1">1</a>');
  });
});
