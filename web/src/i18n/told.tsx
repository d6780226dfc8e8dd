import { useCallback, useSyncExternalStore } from "react";
import { Catalogue, type ServerText } from "../../core/texts";
import { ApiError } from "../api";
import { language, useLanguage, useText } from "./language";
import { shellText } from "./shell";

/**
 * What the house says is English. In Japanese it goes through a catalogue, which is loaded when somebody reads
 * Japanese and not before; until then, and where it has nothing, the English is shown.
 */
let catalogue: Catalogue | null = null;
let loading = false;
const listeners = new Set<() => void>();

async function load(): Promise<void> {
  if (loading || language.value !== "ja") return;
  loading = true;
  try {
    catalogue = new Catalogue((await import("./server.ja.json")).default);
    for (const listener of listeners) listener();
  } catch {
    loading = false; // the next change of the language tries again
  }
}

export function startTold(): void {
  language.subscribe(() => void load());
  void load();
}

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

/** For attributes and for texts in one piece; everything else uses `<Told>`. */
export function useTold(): (text: ServerText) => string {
  const wanted = useLanguage();
  const known = useSyncExternalStore(subscribe, () => catalogue);
  return useCallback(
    (text) => (wanted === "ja" && known ? known.translate(text) : (text as unknown as string)),
    [wanted, known],
  );
}

export function Told({ text }: { text: ServerText }) {
  return useTold()(text);
}

/**
 * Why something failed, in words for the reader: the house's own, or ours where it did not answer. What is `asked` of
 * it is asked again when it is back; what it was told to do is not done behind the user's back.
 */
export function useFailure(asked = false): (error: unknown) => string {
  const t = useText(shellText);
  const say = useTold();
  return useCallback(
    (error) => {
      if (!(error instanceof ApiError)) return t.failed;
      if (!error.offline) return say(error.told);
      return asked ? t.offline : t.unanswered;
    },
    [t, say, asked],
  );
}

export function WhyFailed({ error, asked }: { error: unknown; asked?: boolean }) {
  return useFailure(asked)(error);
}
