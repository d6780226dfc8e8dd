import { type ReactNode, useEffect, useState } from "react";
import { chatText } from "../../i18n/chat";
import { useText } from "../../i18n/language";
import { CopyButton } from "./copy";

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
export function Code({ text, language }: { text: string; language?: string }) {
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
  const coloured = language && highlight && text.length < 50_000 ? highlight(text, language) : null;
  return (
    <div className="code">
      <div className="code-head">
        <span>{language ?? t.language}</span>
        <CopyButton text={() => text} label={t.copyCode} />
      </div>
      <pre tabIndex={0}>
        <code>{coloured ?? text}</code>
      </pre>
    </div>
  );
}
