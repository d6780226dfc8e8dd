import { useEffect, useRef, useState } from "react";
import { waitingTools } from "../../../core/answer";
import type { Conversation } from "../../../core/chats";
import { chatText } from "../../i18n/chat";
import { useText } from "../../i18n/language";

/** What a screen reader hears of an answer: that it began, waits or ended. Never its words one by one. */
export function Spoken({ conversation }: { conversation: Conversation }) {
  const t = useText(chatText);
  const { live, messages } = conversation;
  const answer = messages.findLast((message) => message.answer)?.answer ?? null;
  const waits = answer !== null && waitingTools(answer).length > 0;
  const before = useRef(live);
  const [text, setText] = useState("");
  useEffect(() => {
    if (waits) setText(t.waitingApproval);
    else if (live) setText(t.thinking);
    else if (before.current) setText(answer?.status === "failed" ? t.failedNote : t.answered);
    before.current = live;
  }, [live, waits, answer?.status, t]);
  return (
    <div className="hidden-text" role="status" aria-live="polite">
      {text}
    </div>
  );
}
