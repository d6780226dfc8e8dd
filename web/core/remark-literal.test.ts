import { describe, expect, it } from "vitest";
import { remarkLiteral } from "./remark-literal";

const text = (value: string) => ({ type: "text", value });
const lineEnd = { type: "break" };

interface Any {
  type: string;
  value?: string;
  children?: Any[];
}

function written(...children: Any[]) {
  const tree = { type: "root", children };
  remarkLiteral()(tree);
  return tree.children;
}

describe("literal text", () => {
  it("keeps its line breaks in every element", () => {
    const item = { type: "listItem", children: [{ type: "paragraph", children: [text("一行目\n二行目")] }] };
    expect(written({ type: "list", children: [item] })).toEqual([
      {
        type: "list",
        children: [
          {
            type: "listItem",
            children: [{ type: "paragraph", children: [text("一行目"), lineEnd, text("二行目")] }],
          },
        ],
      },
    ]);
  });

  it("keeps inline tags and HTML blocks as text", () => {
    const html = (value: string) => ({ type: "html", value });
    const paragraph = (...children: Any[]) => ({ type: "paragraph", children });
    expect(written(paragraph(text("List"), html("<T>")), html("<details>\n<summary>続き</summary>"))).toEqual(
      [
        paragraph(text("List"), text("<T>")),
        paragraph(text("<details>"), lineEnd, text("<summary>続き</summary>")),
      ],
    );
  });

  it("leaves code alone", () => {
    const code = { type: "code", value: "a\nb" };
    expect(written(code)).toEqual([code]);
  });
});
