import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useText } from "../../../i18n/language";
import { markdownText } from "../../../i18n/strings/markdown";
import { CopyButton } from "../../../ui/copy-button";

const MAX_HIGHLIGHTED = 50_000;
const HIGHLIGHT_INTERVAL_MS = 250;

type Highlight = (text: string, language: string) => ReactNode | null;

let highlighter: Promise<Highlight> | null = null;
let ready: Highlight | null = null;

function load(): Promise<Highlight> {
  highlighter ??= import("./highlight").then((module) => {
    ready = module.highlight;
    return module.highlight;
  });
  return highlighter;
}

/** A code block, shown plain until the highlighter is loaded. */
export function Code({
  text,
  language,
  action,
  instead,
  note,
}: {
  text: string;
  language?: string;
  action?: ReactNode;
  /** Shown instead of the code. */
  instead?: ReactNode;
  note?: ReactNode;
}) {
  const t = useText(markdownText);
  const [highlight, setHighlight] = useState<Highlight | null>(() => ready);
  useEffect(() => {
    if (!language || highlight) return;
    let mounted = true;
    void load().then((loaded) => mounted && setHighlight(() => loaded));
    return () => {
      mounted = false;
    };
  }, [language, highlight]);
  const throttled = useThrottled(text);
  const coloured = useMemo(
    () =>
      language && highlight && throttled.length < MAX_HIGHLIGHTED ? highlight(throttled, language) : null,
    [language, highlight, throttled],
  );
  const rest = text.startsWith(throttled) ? text.slice(throttled.length) : null;
  return (
    <div className="code">
      <div className="code-head">
        <span className="grow">{language ?? t.codeLanguage}</span>
        {action}
        <CopyButton text={() => text} label={t.copyCode} />
      </div>
      {instead || (
        <pre tabIndex={0}>
          <code>
            {coloured && rest !== null ? coloured : text}
            {coloured && rest}
          </code>
        </pre>
      )}
      <div role="status" className="code-note">
        {note}
      </div>
    </div>
  );
}

/** The text, updated a few times a second: streaming code is not highlighted with every event. */
function useThrottled(text: string): string {
  const [settled, setSettled] = useState(text);
  const newest = useRef(text);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(() => {
    newest.current = text;
    if (text === settled || timer.current) return;
    timer.current = setTimeout(() => {
      timer.current = null;
      setSettled(newest.current);
    }, HIGHLIGHT_INTERVAL_MS);
  }, [text, settled]);
  useEffect(
    () => () => {
      if (timer.current) clearTimeout(timer.current);
      timer.current = null;
    },
    [],
  );
  return settled;
}
