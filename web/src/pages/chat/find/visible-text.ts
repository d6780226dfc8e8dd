import type { Citation } from "../../../../core/citations";
import { CITE, remarkCitations } from "../../../../core/remark-citations";
import { markdownTree } from "../../../ui/markdown";

interface Node {
  type: string;
  tagName?: string;
  value?: string;
  properties?: Record<string, unknown>;
  children?: Node[];
}

/** The elements that begin a new line on the page. */
export const BLOCKS = new Set(
  "p div li ul ol pre blockquote h1 h2 h3 h4 h5 h6 table thead tbody tr td th hr section br".split(" "),
);

/** The text that the page shows for a block of Markdown, without formulas, images and markers of sources. */
export function markdownText(block: string, citations: readonly Citation[]): string {
  return textOf(markdownTree(block, [[remarkCitations, { citations }]]) as Node);
}

function textOf(node: Node): string {
  if (node.type === "text") return node.value ?? "";
  if (isSkipped(node)) return "";
  const text = (node.children ?? []).map(textOf).join("");
  return node.tagName && BLOCKS.has(node.tagName) ? `\n${text}\n` : text;
}

function isSkipped({ tagName, properties = {} }: Node): boolean {
  if (tagName === "a")
    return String(properties.href ?? "").startsWith(CITE) || "dataFootnoteBackref" in properties;
  return tagName === "var" || tagName === "img" || (tagName === "h2" && properties.id === "footnote-label");
}
