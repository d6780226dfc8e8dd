import { type ComponentProps, isValidElement, type ReactNode } from "react";
import type { Components } from "react-markdown";
import { remarkNoteLinks } from "../../../../core/remark-note-links";
import { hrefTo } from "../../../route";
import { ErrorBoundary } from "../../../ui/error-boundary";
import { ExternalLink, MarkdownText, useMarkdown } from "../../../ui/markdown";
import { DiagramCode } from "../../chat/markdown/diagram-code";
import { languageOf } from "../notes";

/**
 * A note's Markdown as elements: HTML tags are text, images are links, and headings rank below the page's own.
 * Links to other notes open them here. Relative links, such as to a file beside an imported note, lead nowhere and
 * stay text.
 */
const COMPONENTS: Components = {
  img: ({ src, alt }) =>
    typeof src === "string" && src ? (
      <ExternalLink href={src}>{alt || src}</ExternalLink>
    ) : (
      <span>{alt}</span>
    ),
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

/** The URI of another note, which an import writes for links between the files of a vault. */
const NOTE = "note://";

const isNote = (url: string) => url.startsWith(NOTE);

function noteLink({ href, children }: ComponentProps<"a">): ReactNode {
  if (href && isNote(href)) {
    return <a href={hrefTo("knowledge", decoded(href.slice(NOTE.length)))}>{children}</a>;
  }
  return href ? <ExternalLink href={href}>{children}</ExternalLink> : <span>{children}</span>;
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

const NO_LINKS: ReadonlyMap<string, string> = new Map();

/** `links` has the ids of notes by the titles that the text links to. */
export function NoteMarkdown({
  children,
  links = NO_LINKS,
}: {
  children: string;
  links?: ReadonlyMap<string, string>;
}) {
  return (
    <div className="kn-markdown" lang={languageOf(children)}>
      <ErrorBoundary resetKey={children} fallback={<div className="kn-plain">{children}</div>}>
        <Parsed text={children} links={links} />
      </ErrorBoundary>
    </div>
  );
}

function Parsed({ text, links }: { text: string; links: ReadonlyMap<string, string> }) {
  const options = useMarkdown(COMPONENTS, noteLink, isNote);
  return (
    <MarkdownText plugins={[[remarkNoteLinks, { links }]]} {...options}>
      {text}
    </MarkdownText>
  );
}
