import { type ComponentProps, isValidElement, type ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import { Boundary } from "../../ui/boundary";
import { FootnoteLink, Ordered, Outside, PROSE, safeUrl, useFootnotes } from "../../ui/prose";
import { DiagramCode } from "../chat/diagram-code";
import { languageOf } from "./notes";

/**
 * No HTML is ever made from a note: elements only, pictures as links, and headings below the page's own. What leads
 * nowhere from here, such as the name of a file beside the note's own, is no link.
 */
const COMPONENTS: Components = {
  img: ({ src, alt }) =>
    typeof src === "string" && src ? <Outside href={src}>{alt || src}</Outside> : <span>{alt}</span>,
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h3>{children}</h3>,
  h3: ({ children }) => <h4>{children}</h4>,
  ol: Ordered,
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

function NoteLink({ href, children }: ComponentProps<"a">) {
  return href ? <Outside href={href}>{children}</Outside> : <span>{children}</span>;
}

export function NoteMarkdown({ children }: { children: string }) {
  return (
    <div className="kn-markdown" lang={languageOf(children)}>
      <Boundary place={children} fallback={<div className="kn-plain">{children}</div>}>
        <Parsed text={children} />
      </Boundary>
    </div>
  );
}

function Parsed({ text }: { text: string }) {
  const footnotes = useFootnotes();
  const components: Components = {
    ...COMPONENTS,
    a: (props) => (footnotes.has(props.href) ? <FootnoteLink {...props} /> : <NoteLink {...props} />),
  };
  return (
    <ReactMarkdown
      remarkPlugins={PROSE}
      remarkRehypeOptions={footnotes.options}
      components={components}
      urlTransform={(url) => (footnotes.has(url) ? url : safeUrl(url))}
    >
      {text}
    </ReactMarkdown>
  );
}
