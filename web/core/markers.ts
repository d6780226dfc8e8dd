/** `[1]`, `[1, 2]`, `【3】` in an answer become links to its sources; numbers that no source has stay text. */
const MARKER = /\[(\d{1,3}(?:\s*[,、]\s*\d{1,3})*)\](?![(:])|【(\d{1,3})】/g;

export const CITE = "#cite-";

interface Node {
  type: string;
  value?: string;
  url?: string;
  children?: Node[];
}

/** A remark plugin: `numbers` says how many sources there are. */
export function remarkCitations({ count }: { count: number }) {
  return (tree: Node) => {
    if (count > 0) visit(tree, count);
  };
}

function visit(node: Node, count: number): void {
  if (!node.children || node.type === "link" || node.type === "linkReference") return;
  node.children = node.children.flatMap((child) => {
    if (child.type === "text") return split(child.value ?? "", count);
    visit(child, count);
    return [child];
  });
}

function split(value: string, count: number): Node[] {
  const nodes: Node[] = [];
  let at = 0;
  for (const match of value.matchAll(MARKER)) {
    const numbers = (match[1] ?? match[2] ?? "").split(/[,、]/).map((one) => Number(one.trim()));
    if (numbers.some((number) => number < 1 || number > count)) continue;
    if (match.index > at) nodes.push({ type: "text", value: value.slice(at, match.index) });
    for (const number of numbers) {
      nodes.push({
        type: "link",
        url: `${CITE}${number}`,
        children: [{ type: "text", value: String(number) }],
      });
    }
    at = match.index + match[0].length;
  }
  if (at < value.length) nodes.push({ type: "text", value: value.slice(at) });
  return nodes;
}
