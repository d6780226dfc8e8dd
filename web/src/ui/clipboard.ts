import { useText } from "../i18n/language";
import { shellText } from "../i18n/shell";
import { useToast } from "./toast";

/** Resolves with whether it was copied; where it was not, the reader has been told. */
export function useCopy(): (text: string) => Promise<boolean> {
  const t = useText(shellText);
  const toast = useToast();
  return async (text) => {
    const copied = (await copyAsAsked(text)) || copyBySelection(text);
    if (!copied) toast(t.copyFailed);
    return copied;
  };
}

async function copyAsAsked(text: string): Promise<boolean> {
  // Browsers have it on https and on this machine alone.
  if (!navigator.clipboard) return false;
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

/** The old way, for a house that is reached over plain http under a name. */
function copyBySelection(text: string): boolean {
  const before = document.activeElement;
  const area = document.createElement("textarea");
  area.className = "hidden-text";
  area.readOnly = true;
  area.value = text;
  // What lies outside of an open dialog cannot be selected.
  (before?.closest("dialog") ?? document.body).append(area);
  area.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    area.remove();
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  }
}
