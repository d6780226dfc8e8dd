import { UNDO_MS } from "./toast";

/**
 * What can be undone has not happened yet: a deletion waits here until its toast is gone. Leaving the page carries
 * it out (the call must use `keepalive`), so nothing that was deleted comes back.
 */
class Later {
  #waiting = new Map<string, { timer: ReturnType<typeof setTimeout>; run: () => void }>();

  constructor() {
    addEventListener("pagehide", () => this.flush());
  }

  add(key: string, run: () => void): void {
    this.cancel(key);
    this.#waiting.set(key, { run, timer: setTimeout(() => this.#run(key), UNDO_MS) });
  }

  /** False where it is too late. */
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

export const later = new Later();
