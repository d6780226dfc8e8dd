import { useText } from "../i18n/language";
import { sessionsText } from "../i18n/strings/sessions";
import { hrefTo } from "../route";
import { Highlighted } from "../ui/highlighted";
import type { Session } from "./client";

/** Where a search has found its words: a line of a message. */
export interface Passage {
  message_id: string;
  role: "user" | "assistant";
  text: string;
  ranges: [number, number][];
  /** Other messages that match. */
  more: number;
}

/** Opens the conversation at the passage, with the words marked. */
export function sessionHref({ session_id: id, passage }: Session, words: string): string {
  if (!passage) return hrefTo("chat", id);
  return `${hrefTo("chat", id)}?${new URLSearchParams({ message: passage.message_id, find: words })}`;
}

/** Opens the conversation with the bar that finds text in it. */
export function findHref(sessionId: string): string {
  return `${hrefTo("chat", sessionId)}?find=`;
}

export function PassageLine({ passage }: { passage: Passage }) {
  const t = useText(sessionsText);
  return (
    <span className="passage">
      <span className="passage-text">
        <Highlighted text={passage.text} ranges={passage.ranges} />
      </span>
      {passage.more > 0 && <span className="passage-more"> {t.moreMatches(passage.more)}</span>}
    </span>
  );
}
