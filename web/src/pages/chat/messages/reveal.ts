/** Scrolls the conversation on the screen to a message, also one that is not rendered yet. */
type Reveal = (messageId: string) => void;

let current: Reveal | null = null;

/** The list of messages registers itself; returns the function that takes it back. */
export function onReveal(reveal: Reveal): () => void {
  current = reveal;
  return () => {
    if (current === reveal) current = null;
  };
}

export function revealMessage(messageId: string): void {
  current?.(messageId);
}

export function messageElement(messageId: string): HTMLElement | null {
  return document.querySelector(`.messages [data-message="${CSS.escape(messageId)}"]`);
}
