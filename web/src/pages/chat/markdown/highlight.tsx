import dockerfile from "highlight.js/lib/languages/dockerfile";
import http from "highlight.js/lib/languages/http";
import nginx from "highlight.js/lib/languages/nginx";
import powershell from "highlight.js/lib/languages/powershell";
import properties from "highlight.js/lib/languages/properties";
import { common, createLowlight } from "lowlight";
import { Fragment, type ReactNode } from "react";

/** Renders lowlight's tree as elements, so that no HTML string is involved. */
const lowlight = createLowlight({ ...common, dockerfile, http, nginx, powershell, properties });

interface Node {
  type: string;
  value?: string;
  properties?: { className?: unknown };
  children?: Node[];
}

export function highlight(text: string, language: string): ReactNode | null {
  if (!lowlight.registered(language)) return null;
  return render((lowlight.highlight(language, text, { prefix: "hl-" }) as Node).children ?? []);
}

function render(nodes: Node[]): ReactNode {
  return nodes.map((node, index) => {
    if (node.type === "text") return node.value;
    const names = node.properties?.className;
    const inner = render(node.children ?? []);
    return Array.isArray(names) ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: rebuilt with every text
      <span key={index} className={names.join(" ")}>
        {inner}
      </span>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: rebuilt with every text
      <Fragment key={index}>{inner}</Fragment>
    );
  });
}
