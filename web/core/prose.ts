/**
 * What somebody wrote is shown as it was written: tags are text, not HTML and not nothing, and a line that ends is a
 * line that ends, as Japanese has no use for a space there.
 */
interface Node {
  type: string;
  value?: string;
  children?: Node[];
}

const BLOCKS = new Set(["root", "blockquote", "listItem", "footnoteDefinition"]);

/** A remark plugin. */
export function remarkAsWritten() {
  return visit;
}

function visit(node: Node): void {
  if (!node.children) return;
  node.children = node.children.flatMap((child) => {
    if (child.type === "text") return lines(child);
    if (child.type === "html") {
      const text = lines(child);
      return BLOCKS.has(node.type) ? [{ type: "paragraph", children: text }] : text;
    }
    visit(child);
    return [child];
  });
}

function lines({ value = "" }: Node): Node[] {
  return value
    .split(/\r?\n/)
    .flatMap((line, place) => [...(place ? [{ type: "break" }] : []), { type: "text", value: line }]);
}
