import { UNDO_MS } from "./toast";

/**
 * Deletions that can still be undone: each runs when its toast has disappeared, or when the page is left (the request
 * must use `keepalive`).
 */
class UndoQueue {
  #waiting = new Map<string, { timer: ReturnType<typeof setTimeout>; run: () => void }>();

  constructor() {
    addEventListener("pagehide", () => this.flush());
  }

  add(key: string, run: () => void): void {
    this.cancel(key);
    this.#waiting.set(key, { run, timer: setTimeout(() => this.#run(key), UNDO_MS) });
  }

  /** False where it has already run. */
  cancel(key: string): boolean {
    const found = this.#waiting.get(key);
    if (found) clearTimeout(found.timer);
    return this.#waiting.delete(key);
  }

  has(key: string): boolean {
    return this.#waiting.has(key);
  }

  flush(): void {
    for (const key of [...this.#waiting.keys()]) this.#run(key);
  }

  #run(key: string): void {
    const found = this.#waiting.get(key);
    if (this.cancel(key)) found?.run();
  }
}

export const undoQueue = new UndoQueue();
