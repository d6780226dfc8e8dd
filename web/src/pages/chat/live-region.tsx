import { useEffect, useRef, useState } from "react";
import { waitingTools } from "../../../core/answer";
import type { Conversation } from "../../../core/conversation";
import { useText } from "../../i18n/language";
import { chatText } from "../../i18n/strings/chat";

/**
 * Announces to screen readers that an answer has started, waits for approval or has ended, for the conversation on the
 * screen. It stays mounted, because screen readers miss the first text of a new region.
 */
export function LiveRegion({ session, conversation }: { session: string; conversation: Conversation }) {
  const t = useText(chatText);
  const { live, messages } = conversation;
  const answer = messages.findLast((message) => message.answer)?.answer ?? null;
  const waiting = answer !== null && waitingTools(answer).length > 0;
  const before = useRef({ session, live });
  const [text, setText] = useState("");
  useEffect(() => {
    if (waiting) setText(t.waitingApproval);
    else if (live) setText(t.thinking);
    else if (before.current.session !== session) setText("");
    else if (before.current.live) setText(answer?.status === "failed" ? t.failedNote : t.answered);
    before.current = { session, live };
  }, [session, live, waiting, answer?.status, t]);
  return (
    <div className="hidden-text" role="status" aria-live="polite">
      {text}
    </div>
  );
}
