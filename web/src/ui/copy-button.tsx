import { useEffect, useState } from "react";
import { useText } from "../i18n/language";
import { shellText } from "../i18n/strings/shell";
import { IconButton } from "./button";
import { useCopy } from "./clipboard";

/** Confirms a copy for two seconds. */
export function CopyButton({ text, label }: { text: () => string; label: string }) {
  const t = useText(shellText);
  const copy = useCopy();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <IconButton
      small
      icon={copied ? "check" : "copy"}
      label={copied ? t.copied : label}
      onClick={() => void copy(text()).then(setCopied)}
    />
  );
}
