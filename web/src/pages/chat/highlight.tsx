import dockerfile from "highlight.js/lib/languages/dockerfile";
import http from "highlight.js/lib/languages/http";
import nginx from "highlight.js/lib/languages/nginx";
import powershell from "highlight.js/lib/languages/powershell";
import properties from "highlight.js/lib/languages/properties";
import { common, createLowlight } from "lowlight";
import { Fragment, type ReactNode } from "react";

/** A tree of spans from lowlight, turned into elements: no HTML text on the way. */
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
  return nodes.map((node, place) => {
    if (node.type === "text") return node.value;
    const names = node.properties?.className;
    const inner = render(node.children ?? []);
    return Array.isArray(names) ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: made anew with every text
      <span key={place} className={names.join(" ")}>
        {inner}
      </span>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: made anew with every text
      <Fragment key={place}>{inner}</Fragment>
    );
  });
}
