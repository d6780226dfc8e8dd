import { useText } from "../i18n/language";
import { shellText } from "../i18n/strings/shell";
import { useToast } from "./toast";

/** Resolves with whether the text was copied; shows a message where it was not. */
export function useCopy(): (text: string) => Promise<boolean> {
  const t = useText(shellText);
  const toast = useToast();
  return async (text) => {
    const copied = (await copyWithApi(text)) || copyBySelection(text);
    if (!copied) toast(t.copyFailed);
    return copied;
  };
}

async function copyWithApi(text: string): Promise<boolean> {
  // The clipboard API exists only in secure contexts: https and localhost.
  if (!navigator.clipboard) return false;
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

/** The legacy way, for a Chie that is served over plain http. */
function copyBySelection(text: string): boolean {
  const before = document.activeElement;
  const area = document.createElement("textarea");
  area.className = "hidden-text";
  area.readOnly = true;
  area.value = text;
  // Elements outside an open modal dialog are inert.
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
