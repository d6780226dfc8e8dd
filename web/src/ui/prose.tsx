import type { ComponentProps, ReactNode } from "react";
import { useId, useMemo } from "react";
import { defaultUrlTransform, type ExtraProps, type Options } from "react-markdown";
import remarkCjkFriendly from "remark-cjk-friendly";
import remarkGfm from "remark-gfm";
import { remarkAsWritten } from "../../core/prose";
import { useText } from "../i18n/language";
import { shellText } from "../i18n/shell";

/** What answers and notes have in common once they are Markdown. */
export const PROSE: NonNullable<Options["remarkPlugins"]> = [remarkGfm, remarkCjkFriendly, remarkAsWritten];

/** http, https and mailto; whatever else a text may name is no link. */
export function safeUrl(url: string): string {
  const safe = defaultUrlTransform(url);
  return /^(https?:|mailto:)/i.test(safe) ? safe : "";
}

/** Links tell nobody where they were clicked. */
export function Outside({ href, children }: { href: string; children: ReactNode }) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

/** Footnotes in the reader's language, under names that no other text on the page has. */
export function useFootnotes() {
  const t = useText(shellText);
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

/** The address's hash is the place in the page, so a footnote is gone to by hand. */
export function FootnoteLink({ href, id, children, "aria-label": label }: ComponentProps<"a">) {
  return (
    <a
      id={id}
      href={href}
      aria-label={label}
      onClick={(event) => {
        event.preventDefault();
        const there = document.getElementById(href?.slice(1) ?? "");
        if (!there) return;
        if (there.tabIndex < 0) there.tabIndex = -1;
        there.scrollIntoView({ block: "nearest" });
        there.focus({ preventScroll: true });
      }}
    >
      {children}
    </a>
  );
}

/** Its numbers stand beside it, however many digits they have. */
export function Ordered({ node, children, ...rest }: ComponentProps<"ol"> & ExtraProps) {
  const items = node?.children.filter((child) => child.type === "element").length ?? 0;
  const digits = String((rest.start ?? 1) + items - 1).length;
  return (
    <ol {...rest} style={digits > 1 ? { paddingLeft: `${0.9 + 0.6 * digits}em` } : undefined}>
      {children}
    </ol>
  );
}
