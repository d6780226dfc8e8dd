import "./markdown.css";
import { type ComponentProps, memo, type ReactNode, useMemo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import { splitBlocks } from "../../../core/blocks";
import { type Citation, markSupported } from "../../../core/citations";
import { CITE, remarkCitations } from "../../../core/markers";
import { chatText } from "../../i18n/chat";
import { useText } from "../../i18n/language";
import { Icon } from "../../ui/icon";
import { FootnoteLink, Ordered, Outside, PROSE, safeUrl, useFootnotes } from "../../ui/prose";
import { Code } from "./code";
import { DiagramCode } from "./diagram-code";
import { SourceChip } from "./sources";

/**
 * Model and tool text as elements: no HTML is made from it anywhere. Tags in it are shown as text, pictures become
 * links, and links tell nobody where they were clicked.
 */
export default function Markdown({
  text,
  citations = NONE,
}: {
  text: string;
  citations?: readonly Citation[];
}) {
  const blocks = useMemo(() => splitBlocks(markSupported(text, citations)), [text, citations]);
  return (
    <div className="markdown">
      {blocks.map((block, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks only ever grow at the end
        <Block key={place} text={block} citations={citations} />
      ))}
    </div>
  );
}

const NONE: readonly Citation[] = [];

const Block = memo(function Block({ text, citations }: { text: string; citations: readonly Citation[] }) {
  const footnotes = useFootnotes();
  const components = useMemo<Components>(
    () => ({
      ...COMPONENTS,
      a: (props) => (footnotes.has(props.href) ? <FootnoteLink {...props} /> : anchor(props, citations)),
    }),
    [citations, footnotes],
  );
  return (
    <div className="markdown-block">
      <ReactMarkdown
        remarkPlugins={[...PROSE, [remarkCitations, { citations }]]}
        remarkRehypeOptions={footnotes.options}
        components={components}
        urlTransform={(url) => (url.startsWith(CITE) || footnotes.has(url) ? url : safeUrl(url))}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
});

function anchor({ href, children }: ComponentProps<"a">, citations: readonly Citation[]): ReactNode {
  if (href?.startsWith(CITE)) {
    const citation = citations[Number(href.slice(CITE.length)) - 1];
    return citation ? <SourceChip citation={citation} inline /> : children;
  }
  return href ? <Outside href={href}>{children}</Outside> : <span>{children}</span>;
}

function Picture({ src, alt }: ComponentProps<"img">) {
  const t = useText(chatText);
  const text = (
    <span className="picture" title={t.imageNote}>
      <Icon name="eye" size={16} />
      {t.imageLink(alt ?? "")}
    </span>
  );
  return typeof src === "string" && src ? <Outside href={src}>{text}</Outside> : text;
}

const COMPONENTS: Components = {
  img: ({ src, alt }) => <Picture src={src} alt={alt} />,
  ol: Ordered,
  pre: ({ children }) => children,
  code: ({ className, children }) => {
    const text = String(children);
    const language = /language-(\S+)/.exec(className ?? "")?.[1];
    if (language === "mermaid") return <DiagramCode text={text.replace(/\n$/, "")} />;
    return language || text.includes("\n") ? (
      <Code text={text.replace(/\n$/, "")} language={language} />
    ) : (
      <code>{text}</code>
    );
  },
  table: ({ children }) => (
    <div className="table" tabIndex={0} role="group">
      <table>{children}</table>
    </div>
  ),
};
