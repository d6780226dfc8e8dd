import { useEffect, useState } from "react";
import type { Message } from "../../../../core/conversation";
import { fold, occurrences } from "../../../../core/text-search";
import { textsOf } from "./message-texts";

export interface Matches {
  query: string;
  /** The messages that match, in order, and how often. */
  found: readonly { id: string; count: number }[];
  total: number;
}

const TYPING_PAUSE_MS = 80;
/** Longer work would delay a key press. */
const SLICE_MS = 10;

/** Counts the matches in all messages, whether they are rendered or not; null until that is done. */
export function useMatches(messages: readonly Message[], query: string): Matches | null {
  const [matches, setMatches] = useState<Matches | null>(null);
  const [searched, setSearched] = useState(query);
  useEffect(() => {
    const timer = setTimeout(() => setSearched(query), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [query]);
  useEffect(() => {
    let stale = false;
    void count(messages, searched.trim(), () => stale).then((counted) => counted && setMatches(counted));
    return () => {
      stale = true;
    };
  }, [messages, searched]);
  return matches;
}

async function count(
  messages: readonly Message[],
  query: string,
  isStale: () => boolean,
): Promise<Matches | null> {
  const needle = fold(query);
  const found: { id: string; count: number }[] = [];
  let began = performance.now();
  for (const message of needle ? messages : []) {
    const texts = textsOf(message, needle);
    const count = texts.reduce((sum, text) => sum + occurrences(text, needle).length, 0);
    if (count) found.push({ id: message.id, count });
    if (performance.now() - began < SLICE_MS) continue;
    await new Promise((resume) => setTimeout(resume));
    began = performance.now();
    if (isStale()) return null;
  }
  if (isStale()) return null;
  return { query, found, total: found.reduce((sum, { count }) => sum + count, 0) };
}
