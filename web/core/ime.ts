/**
 * The Enter that confirms a Japanese conversion must not submit. Chromium and Firefox mark the key event (`isComposing`,
 * or keyCode 229); WebKit sends `compositionend` first and then a plain key event, recognisable only by its time.
 */
const AFTER_COMPOSITION_MS = 50;

interface KeyLike {
  key: string;
  isComposing?: boolean;
  keyCode?: number;
  timeStamp: number;
}

export class CompositionTracker {
  #composing = false;
  #ended = Number.NEGATIVE_INFINITY;

  compositionStart(): void {
    this.#composing = true;
  }

  compositionEnd(timeStamp: number): void {
    this.#composing = false;
    this.#ended = timeStamp;
  }

  /** Whether the input method handles this key. */
  owns(event: KeyLike): boolean {
    if (this.#composing || event.isComposing || event.keyCode === 229) return true;
    return event.key === "Enter" && event.timeStamp - this.#ended < AFTER_COMPOSITION_MS;
  }
}
