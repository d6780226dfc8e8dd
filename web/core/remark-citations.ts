/**
 * Turns `[1]`, `[1, 2]` and `【3】` in an answer, and a note's id in `code`, into links to its sources. Numbers without
 * a source stay text.
 */
export const MARKER = /\[(\d{1,3}(?:\s*[,、]\s*\d{1,3})*)\]|【(\d{1,3})】/g;

export const CITE = "#cite-";

interface Node {
  type: string;
  value?: string;
  url?: string;
  children?: Node[];
}

/** A remark plugin; `citations` are the answer's sources in order. */
export function remarkCitations({ citations }: { citations: readonly { noteId: string | null }[] }) {
  return (tree: Node) => {
    if (citations.length) visit(tree, citations);
  };
}

function visit(node: Node, citations: readonly { noteId: string | null }[]): void {
  if (!node.children || node.type === "link" || node.type === "linkReference") return;
  node.children = node.children.flatMap((child) => {
    if (child.type === "text") return split(child.value ?? "", citations.length);
    const named =
      child.type === "inlineCode" ? citations.findIndex(({ noteId }) => noteId === child.value) : -1;
    if (named >= 0) return [link(named + 1)];
    visit(child, citations);
    return [child];
  });
}

function link(number: number): Node {
  return { type: "link", url: `${CITE}${number}`, children: [{ type: "text", value: String(number) }] };
}

function split(value: string, count: number): Node[] {
  const nodes: Node[] = [];
  let at = 0;
  for (const match of value.matchAll(MARKER)) {
    const numbers = (match[1] ?? match[2] ?? "").split(/[,、]/).map((one) => Number(one.trim()));
    if (numbers.some((number) => number < 1 || number > count)) continue;
    if (match.index > at) nodes.push({ type: "text", value: value.slice(at, match.index) });
    nodes.push(...numbers.map(link));
    at = match.index + match[0].length;
  }
  if (at < value.length) nodes.push({ type: "text", value: value.slice(at) });
  return nodes;
}
