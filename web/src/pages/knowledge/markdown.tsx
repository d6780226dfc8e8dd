import { isValidElement, type ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkCjkFriendly from "remark-cjk-friendly";
import remarkGfm from "remark-gfm";
import { DiagramCode } from "../chat/diagram-code";
import { languageOf } from "./notes";

const PLUGINS = [remarkGfm, remarkCjkFriendly];

/** No HTML is ever made from a note: elements only, pictures as links, and headings below the page's own. */
const COMPONENTS: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  img: ({ src, alt }) =>
    typeof src === "string" && src ? (
      <a href={src} target="_blank" rel="noreferrer noopener">
        {alt || src}
      </a>
    ) : null,
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h3>{children}</h3>,
  h3: ({ children }) => <h4>{children}</h4>,
  table: ({ children }) => (
    <div className="kn-table" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
  pre: ({ children }) => {
    const diagram = diagramIn(children);
    return diagram ? <DiagramCode text={diagram} /> : <pre tabIndex={0}>{children}</pre>;
  },
};

function diagramIn(children: ReactNode): string | null {
  if (!isValidElement<{ className?: string; children?: ReactNode }>(children)) return null;
  const { className, children: text } = children.props;
  return className === "language-mermaid" ? String(text).trimEnd() : null;
}

export function NoteMarkdown({ children }: { children: string }) {
  return (
    <div className="kn-markdown" lang={languageOf(children)}>
      <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS} skipHtml>
        {children}
      </ReactMarkdown>
    </div>
  );
}
