/**
 * Shows text as it was written: HTML tags become text, and a line break stays a line break, because Japanese has no
 * space to replace it with.
 */
interface Node {
  type: string;
  value?: string;
  children?: Node[];
}

const BLOCKS = new Set(["root", "blockquote", "listItem", "footnoteDefinition"]);

/** A remark plugin. */
export function remarkLiteral() {
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
    .flatMap((line, index) => [...(index ? [{ type: "break" }] : []), { type: "text", value: line }]);
}
