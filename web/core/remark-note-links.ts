/** Turns `[[title]]` and `[[title|label]]` in a note into links to the notes that they name. Others stay text. */
const LINK = /\[\[([^[\]|\n]{1,300})(?:\|([^[\]\n]{1,500}))?\]\]/g;

interface Node {
  type: string;
  value?: string;
  url?: string;
  children?: Node[];
}

/** A remark plugin; `links` has the ids of notes by the titles that the text has. */
export function remarkNoteLinks({ links }: { links: ReadonlyMap<string, string> }) {
  return (tree: Node) => {
    if (links.size) visit(tree, links);
  };
}

function visit(node: Node, links: ReadonlyMap<string, string>): void {
  if (!node.children || node.type === "link" || node.type === "linkReference") return;
  node.children = node.children.flatMap((child) => {
    if (child.type === "text") return split(child.value ?? "", links);
    visit(child, links);
    return [child];
  });
}

function split(value: string, links: ReadonlyMap<string, string>): Node[] {
  const nodes: Node[] = [];
  let at = 0;
  for (const match of value.matchAll(LINK)) {
    const title = (match[1] ?? "").trim();
    const id = links.get(title);
    if (id === undefined) continue;
    if (match.index > at) nodes.push({ type: "text", value: value.slice(at, match.index) });
    nodes.push({
      type: "link",
      url: `note://${encodeURIComponent(id)}`,
      children: [{ type: "text", value: match[2]?.trim() || title }],
    });
    at = match.index + match[0].length;
  }
  if (at < value.length) nodes.push({ type: "text", value: value.slice(at) });
  return nodes;
}
