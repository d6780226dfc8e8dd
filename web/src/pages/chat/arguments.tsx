import { chatText } from "../../i18n/chat";
import { useText } from "../../i18n/language";

export const MAX_SHOWN = 20_000;

/** The arguments of a tool call. */
export function Arguments({ value }: { value: Record<string, unknown> }) {
  const t = useText(chatText);
  if (!Object.keys(value).length) return <p className="muted small">{t.toolNoArguments}</p>;
  return <pre tabIndex={0}>{truncated(JSON.stringify(value, null, 2))}</pre>;
}

export function truncated(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
