import { useEffect, useRef, useState } from "react";
import { waitingTools } from "../../../core/answer";
import type { Conversation } from "../../../core/chats";
import { chatText } from "../../i18n/chat";
import { useText } from "../../i18n/language";

/**
 * What a screen reader hears of an answer: that it began, waits or ended. Never its words one by one, and nothing of
 * a conversation that is not on the screen. It stays in its place: readers miss what a new region says first.
 */
export function Spoken({ session, conversation }: { session: string; conversation: Conversation }) {
  const t = useText(chatText);
  const { live, messages } = conversation;
  const answer = messages.findLast((message) => message.answer)?.answer ?? null;
  const waits = answer !== null && waitingTools(answer).length > 0;
  const before = useRef({ session, live });
  const [text, setText] = useState("");
  useEffect(() => {
    if (waits) setText(t.waitingApproval);
    else if (live) setText(t.thinking);
    else if (before.current.session !== session) setText("");
    else if (before.current.live) setText(answer?.status === "failed" ? t.failedNote : t.answered);
    before.current = { session, live };
  }, [session, live, waits, answer?.status, t]);
  return (
    <div className="hidden-text" role="status" aria-live="polite">
      {text}
    </div>
  );
}
