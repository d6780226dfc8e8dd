import "./markdown.css";
import { type ComponentProps, memo, type ReactNode, useCallback, useMemo } from "react";
import type { Components } from "react-markdown";
import { type Citation, markSupported } from "../../../../core/citations";
import { splitBlocks } from "../../../../core/markdown-blocks";
import { CITE, remarkCitations } from "../../../../core/remark-citations";
import { useText } from "../../../i18n/language";
import { markdownText } from "../../../i18n/strings/markdown";
import { Icon } from "../../../ui/icon";
import { ExternalLink, MarkdownText, useMarkdown } from "../../../ui/markdown";
import { Code } from "./code";
import { DiagramCode } from "./diagram-code";
// biome-ignore lint/suspicious/noImportCycles: a source loads this file when it is opened
import { SourceChip } from "./sources";

/**
 * Markdown from models and tools, rendered as elements: HTML tags are shown as text, images become links, and links
 * send no referrer.
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
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks only ever grow at the end
        <Block key={index} text={block} citations={citations} />
      ))}
    </div>
  );
}

const NONE: readonly Citation[] = [];

const isCitation = (url: string) => url.startsWith(CITE);

const Block = memo(function Block({ text, citations }: { text: string; citations: readonly Citation[] }) {
  const link = useCallback((props: ComponentProps<"a">) => anchor(props, citations), [citations]);
  const options = useMarkdown(COMPONENTS, link, isCitation);
  return (
    <div className="markdown-block">
      <MarkdownText plugins={[[remarkCitations, { citations }]]} {...options}>
        {text}
      </MarkdownText>
    </div>
  );
});

function anchor({ href, children }: ComponentProps<"a">, citations: readonly Citation[]): ReactNode {
  if (href?.startsWith(CITE)) {
    const citation = citations[Number(href.slice(CITE.length)) - 1];
    return citation ? <SourceChip citation={citation} inline /> : children;
  }
  return href ? <ExternalLink href={href}>{children}</ExternalLink> : <span>{children}</span>;
}

function Picture({ src, alt }: ComponentProps<"img">) {
  const t = useText(markdownText);
  const text = (
    <span className="picture" title={t.imageNote}>
      <Icon name="eye" size={16} />
      {t.imageLink(alt ?? "")}
    </span>
  );
  return typeof src === "string" && src ? <ExternalLink href={src}>{text}</ExternalLink> : text;
}

const COMPONENTS: Components = {
  img: ({ src, alt }) => <Picture src={src} alt={alt} />,
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
