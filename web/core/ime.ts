/**
 * Enter that confirms a Japanese conversion is not Enter. Chromium and Firefox say so on the key (`isComposing`, or
 * keyCode 229); WebKit sends `compositionend` first and the key after it, with nothing but its time to tell.
 */
const AFTER_COMPOSITION = 50;

export interface KeyLike {
  key: string;
  isComposing?: boolean;
  keyCode?: number;
  timeStamp: number;
}

export class ImeGuard {
  #composing = false;
  #ended = Number.NEGATIVE_INFINITY;

  compositionStart(): void {
    this.#composing = true;
  }

  compositionEnd(timeStamp: number): void {
    this.#composing = false;
    this.#ended = timeStamp;
  }

  /** Does this key belong to the input method? */
  owns(event: KeyLike): boolean {
    if (this.#composing || event.isComposing || event.keyCode === 229) return true;
    return event.key === "Enter" && event.timeStamp - this.#ended < AFTER_COMPOSITION;
  }
}
