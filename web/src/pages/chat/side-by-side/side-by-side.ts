import { useSyncExternalStore } from "react";
import type { Message } from "../../../../core/conversation";
import { type Pair, SideBySide } from "../../../../core/side-by-side";
import { browserStorage } from "../../../drafts";

export const sideBySide = new SideBySide(browserStorage());

export function usePairs(): readonly Pair[] {
  return useSyncExternalStore(sideBySide.subscribe, () => sideBySide.pairs);
}

export function useSecondAgent(session: string): string | null {
  return useSyncExternalStore(sideBySide.subscribe, () => sideBySide.agentOf(session));
}

/** The messages of a branch, and the answers that are shown beside them. */
export function withPairs(
  pairs: readonly Pair[],
  messages: readonly Message[],
  shown: readonly Message[],
): Message[] {
  return shown.flatMap((message) => (message.answer && pairOf(pairs, messages, message)) || [message]);
}

/** The two answers that are shown in the place of this one, or null where it is shown alone. */
export function pairOf(
  pairs: readonly Pair[],
  messages: readonly Message[],
  answer: Message,
): [Message, Message] | null {
  const pair = pairs.find((one) => one.includes(answer.id));
  const [first, second] = (pair ?? []).map((id) => messages.find((message) => message.id === id));
  return first && second && first.parentId === second.parentId ? [first, second] : null;
}
