import "./snippet.css";
import { useEffect, useRef, useState } from "react";
import { useText } from "../../i18n/language";
import { shellText } from "../../i18n/strings/shell";
import { Button } from "../../ui/button";
import { useCopy } from "../../ui/clipboard";

/** Text with a copy button. */
export function Snippet({ text, label }: { text: string; label: string }) {
  const t = useText(shellText);
  const copyText = useCopy();
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  async function copy() {
    if (!(await copyText(text))) return;
    setCopied(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setCopied(false), 2000);
  }
  return (
    <div className="snippet">
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <Button
        small
        icon={copied ? "check" : "copy"}
        aria-label={`${copied ? t.copied : t.copy}: ${label}`}
        onClick={copy}
      >
        {copied ? t.copied : t.copy}
      </Button>
    </div>
  );
}
