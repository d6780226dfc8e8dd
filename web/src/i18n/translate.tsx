import { type ReactNode, useCallback, useSyncExternalStore } from "react";
import { type Catalogue, inEnglish, type ServerMessage, translate } from "../../core/server-message";
import { ApiError } from "../api";
import { language, useLanguage, useText } from "./language";
import { shellText } from "./strings/shell";

/**
 * Server messages in the reader's language. The Japanese catalogue is loaded when the page is first shown in
 * Japanese; until then, and for texts without a code, the English text is shown.
 */
let catalogue: Catalogue | null = null;
let loading = false;
const listeners = new Set<() => void>();

async function load(): Promise<void> {
  if (loading || language.value !== "ja") return;
  loading = true;
  try {
    catalogue = (await import("./ja-messages")).catalogue;
    for (const listener of listeners) listener();
  } catch {
    loading = false; // the next change of the language tries again
  }
}

export function startTranslation(): void {
  language.subscribe(() => void load());
  void load();
}

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

/** For attributes and strings; elements use `<Translated>`. */
export function useTranslate(): (message: ServerMessage) => string {
  const chosen = useLanguage();
  const known = useSyncExternalStore(subscribe, () => catalogue);
  return useCallback(
    (message) => (chosen === "ja" && known ? translate(message, known) : inEnglish(message)),
    [chosen, known],
  );
}

/** Renders nothing for null, so that optional texts need no condition. */
export function Translated({ message }: { message: ServerMessage | null }) {
  const translateMessage = useTranslate();
  return message && withCode(translateMessage(message));
}

/** Parts in backticks, such as the name of a setting, as code. */
function withCode(text: string): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no identity of their own
  return text.split(/`([^`]+)`/).map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part));
}

/**
 * An error as text: the server's message, or one of ours where no response came. Queries are `retried` automatically;
 * a change is not, because the server may have made it.
 */
export function useErrorText(retried = false): (error: unknown) => string {
  const t = useText(shellText);
  const translateMessage = useTranslate();
  return useCallback(
    (error) => {
      if (!(error instanceof ApiError)) return t.failed;
      if (!error.offline) return translateMessage(error.reason);
      return retried ? t.offline : t.unanswered;
    },
    [t, translateMessage, retried],
  );
}

export function ErrorText({ error, retried }: { error: unknown; retried?: boolean }) {
  return withCode(useErrorText(retried)(error));
}
