import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { chatText } from "../../i18n/chat";
import { useText } from "../../i18n/language";
import { CopyButton } from "./copy";

const LONGEST = 50_000;
const PAUSE_MS = 250;

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

/** Code is there at once and gets its colours when the highlighter has been loaded. */
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
  /** What is shown in place of the code. */
  instead?: ReactNode;
  note?: ReactNode;
}) {
  const t = useText(chatText);
  const [highlight, setHighlight] = useState<Highlight | null>(() => ready);
  useEffect(() => {
    if (!language || highlight) return;
    let here = true;
    void load().then((loaded) => here && setHighlight(() => loaded));
    return () => {
      here = false;
    };
  }, [language, highlight]);
  const settled = useSettled(text);
  const coloured = useMemo(
    () => (language && highlight && settled.length < LONGEST ? highlight(settled, language) : null),
    [language, highlight, settled],
  );
  const rest = text.startsWith(settled) ? text.slice(settled.length) : null;
  return (
    <div className="code">
      <div className="code-head">
        <span className="grow">{language ?? t.language}</span>
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

/** Code that grows gets its colours a few times a second: what is new is plain until then. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  const newest = useRef(text);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(() => {
    newest.current = text;
    if (text === settled || timer.current) return;
    timer.current = setTimeout(() => {
      timer.current = null;
      setSettled(newest.current);
    }, PAUSE_MS);
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
