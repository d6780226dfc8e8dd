import { useCallback, useEffect, useSyncExternalStore } from "react";
import { Drafts } from "../core/drafts";

export function browserStorage(): Storage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

export const drafts = new Drafts(browserStorage());
addEventListener("pagehide", () => drafts.save());

export function useDraft(key: string): [string, (text: string) => void] {
  const text = useSyncExternalStore(drafts.subscribe, () => drafts.read(key));
  useEffect(() => () => drafts.release(key), [key]);
  return [text, useCallback((changed) => drafts.type(key, changed), [key])];
}
