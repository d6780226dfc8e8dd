import { type ComponentProps, type ReactNode, useId, useMemo } from "react";
import ReactMarkdown, {
  type Components,
  defaultUrlTransform,
  type ExtraProps,
  type Options,
} from "react-markdown";
import remarkCjkFriendly from "remark-cjk-friendly";
import remarkGfm from "remark-gfm";
import { markFormulas, remarkFormulas } from "../../core/formulas";
import { remarkLiteral } from "../../core/remark-literal";
import { useText } from "../i18n/language";
import { markdownText } from "../i18n/strings/markdown";
import { Formula } from "./formula";

type Plugins = NonNullable<Options["remarkPlugins"]>;

const PLUGINS: Plugins = [remarkGfm, remarkCjkFriendly, remarkLiteral];

/** The Markdown of answers and notes, with formulas; `plugins` are those of the page. */
export function MarkdownText({
  children,
  plugins,
  ...options
}: Omit<Options, "children" | "remarkPlugins"> & { children: string; plugins: Plugins }) {
  const { text, formulas } = useMemo(() => markFormulas(children), [children]);
  return (
    <ReactMarkdown remarkPlugins={[...PLUGINS, [remarkFormulas, { formulas }], ...plugins]} {...options}>
      {text}
    </ReactMarkdown>
  );
}

/** The elements that `MarkdownText` renders, as a hast tree. */
export function markdownTree(source: string, plugins: Plugins): unknown {
  let tree: unknown = null;
  const { text, formulas } = markFormulas(source);
  ReactMarkdown({
    children: text,
    remarkPlugins: [...PLUGINS, [remarkFormulas, { formulas }], ...plugins],
    rehypePlugins: [
      () => (found: unknown) => {
        tree = found;
      },
    ],
    urlTransform: (url) => url,
  });
  return tree;
}

/** Allows http, https and mailto; empty for anything else. */
function safeUrl(url: string): string {
  const safe = defaultUrlTransform(url);
  return /^(https?:|mailto:)/i.test(safe) ? safe : "";
}

/** A link to another site, without a referrer. */
export function ExternalLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

/** Footnote labels in the reader's language, and ids that are unique on the page. */
function useFootnotes() {
  const t = useText(markdownText);
  const id = useId();
  return useMemo(() => {
    const prefix = `${id}-`;
    const options: Options["remarkRehypeOptions"] = {
      clobberPrefix: prefix,
      footnoteLabel: t.footnotes,
      footnoteBackLabel: t.footnoteBack,
    };
    return { options, has: (url: string | undefined) => Boolean(url?.startsWith(`#${prefix}`)) };
  }, [id, t]);
}

/** Scrolls to a footnote by script, because the URL's hash is used for routing. */
function FootnoteLink({ href, id, children, "aria-label": label }: ComponentProps<"a">) {
  return (
    <a
      id={id}
      href={href}
      aria-label={label}
      onClick={(event) => {
        event.preventDefault();
        const target = document.getElementById(href?.slice(1) ?? "");
        if (!target) return;
        if (target.tabIndex < 0) target.tabIndex = -1;
        target.scrollIntoView({ block: "nearest" });
        target.focus({ preventScroll: true });
      }}
    >
      {children}
    </a>
  );
}

/** An ordered list with enough padding for its numbers. */
function OrderedList({ node, children, ...rest }: ComponentProps<"ol"> & ExtraProps) {
  const items = node?.children.filter((child) => child.type === "element").length ?? 0;
  const digits = String((rest.start ?? 1) + items - 1).length;
  return (
    <ol {...rest} style={digits > 1 ? { paddingLeft: `${0.9 + 0.6 * digits}em` } : undefined}>
      {children}
    </ol>
  );
}

/** The checkbox of a task list, which shows a state and cannot be changed. */
function TaskState({ checked }: ComponentProps<"input">) {
  const t = useText(markdownText);
  return <input type="checkbox" disabled checked={checked} aria-label={checked ? t.taskDone : t.taskOpen} />;
}

/** The props of `MarkdownText` for answers and notes. URLs that `isInternal` accepts are passed to `link` unchanged. */
export function useMarkdown(
  components: Components,
  link: (props: ComponentProps<"a">) => ReactNode,
  isInternal: (url: string) => boolean = () => false,
): Pick<Options, "components" | "remarkRehypeOptions" | "urlTransform"> {
  const footnotes = useFootnotes();
  return useMemo(
    () => ({
      remarkRehypeOptions: footnotes.options,
      components: {
        ...components,
        ol: OrderedList,
        input: TaskState,
        var: ({ node: _, ...rest }) => <Formula {...rest} />,
        a: (props) => (footnotes.has(props.href) ? <FootnoteLink {...props} /> : link(props)),
      },
      urlTransform: (url) => (isInternal(url) || footnotes.has(url) ? url : safeUrl(url)),
    }),
    [footnotes, components, link, isInternal],
  );
}
