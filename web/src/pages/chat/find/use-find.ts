import { useEffect, useState } from "react";
import { branch, type Conversation, NEW } from "../../../../core/conversation";
import { go, hrefTo, useRoute } from "../../../route";
import { chats } from "../../../sessions/chats";
import { focusField } from "../composer/composer";
import { revealMessage } from "../messages/reveal";

/**
 * Whether the find bar is open, and with which words. `#/chat/<session>?message=<id>&find=<words>` opens it at a
 * message, on the branch that has it; Ctrl or ⌘ + F opens it empty.
 */
export function useFind(session: string, conversation: Conversation) {
  const { query } = useRoute();
  const [message, words] = [query.get("message"), query.get("find")];
  const [opened, setOpened] = useState<string | null>(null);
  const ready = conversation.state === "ready" && conversation.messages.length > 0;
  useShownMessage(session, ready, message);
  useFindKey(ready && session !== NEW, () => setOpened(session));
  const close = () => {
    setOpened(null);
    if (message !== null || words !== null) go(hrefTo("chat", session), { replace: true });
    focusField();
  };
  const open = ready && (words !== null || opened === session);
  return { open, words: words ?? "", message, key: `${session} ${message} ${words}`, close };
}

/** Switches to the branch of the message, and scrolls to it. */
function useShownMessage(session: string, ready: boolean, message: string | null): void {
  useEffect(() => {
    if (!ready || message === null) return;
    const { messages, tip } = chats.get(session);
    const hidden = !branch(messages, tip).some(({ id }) => id === message);
    if (hidden && messages.some(({ id }) => id === message)) chats.select(session, message);
    requestAnimationFrame(() => requestAnimationFrame(() => revealMessage(message)));
  }, [session, ready, message]);
}

/** Where the field of the bar has the focus already, the key is the browser's own. */
function useFindKey(enabled: boolean, open: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const find = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key === "f";
      if (!find || !enabled || document.querySelector("dialog[open]")) return;
      const field = document.querySelector<HTMLInputElement>(".find-bar input");
      if (field && field === document.activeElement) return;
      event.preventDefault();
      if (field) field.select();
      else open();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}
