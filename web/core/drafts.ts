/**
 * What was typed and not sent yet, by session or by whatever else is written in. It belongs to the page first, so that
 * a text can come back to its place while nobody looks at it, and the browser keeps it; the oldest go when there are many.
 */
const PREFIX = "chie.draft.";
const KEPT = 50;
const REST_MS = 300;

export class Drafts {
  #texts = new Map<string, string>();
  /** Only what was typed here is written down: another tab may have its own words under the same key. */
  #unsaved = new Set<string>();
  /** What the browser had when this tab last looked: only that is this tab's to wipe. */
  #seen = new Map<string, string | null>();
  #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly storage: Storage | null) {}

  subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  };

  read(key: string): string {
    let text = this.#texts.get(key);
    if (text === undefined) {
      const kept = this.#get(PREFIX + key);
      text = this.#parse(kept)?.text ?? "";
      this.#texts.set(key, text);
      this.#seen.set(key, kept);
    }
    return text;
  }

  /** Shown at once, written down when the typing rests. */
  type(key: string, text: string): void {
    this.#texts.set(key, text);
    this.#unsaved.add(key);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.save(), REST_MS);
    for (const listener of this.#listeners) listener();
  }

  write(key: string, text: string, now = Date.now()): void {
    this.type(key, text);
    this.save(now);
  }

  /** A text that could not be sent comes back, before what has been typed in its place since. */
  giveBack(key: string, text: string): void {
    const since = this.read(key);
    this.write(key, since && since !== text ? `${text}\n\n${since}` : text);
  }

  /** What was written in one place goes on in another; what is there already stays behind it. */
  move(from: string, to: string): void {
    const text = this.read(from);
    if (!text) return;
    this.giveBack(to, text);
    this.write(from, "");
  }

  save(now = Date.now()): void {
    clearTimeout(this.#timer);
    for (const key of this.#unsaved) if (this.#store(key, now)) this.#unsaved.delete(key);
  }

  /** Nobody writes there now: the next reader gets what the browser has, which another tab may have changed. */
  leave(key: string): void {
    this.save();
    if (!this.#unsaved.has(key)) this.#texts.delete(key);
  }

  /** A full or forbidden storage costs the draft when the page is left, not the typing. */
  #store(key: string, now: number): boolean {
    if (!this.storage) return false;
    const text = this.#texts.get(key);
    try {
      if (text) this.#keep(this.storage, key, JSON.stringify({ text, at: now }));
      else if (this.#get(PREFIX + key) === this.#seen.get(key)) this.storage.removeItem(PREFIX + key);
      this.#prune(this.storage);
      return true;
    } catch {
      return false;
    }
  }

  #keep(storage: Storage, key: string, value: string): void {
    storage.setItem(PREFIX + key, value);
    this.#seen.set(key, value);
  }

  #prune(storage: Storage): void {
    const names = Array.from({ length: storage.length }, (_, place) => storage.key(place) ?? "");
    const drafts = names.filter((name) => name.startsWith(PREFIX));
    if (drafts.length <= KEPT) return;
    const oldest = drafts.sort((a, b) => this.#age(a) - this.#age(b)).slice(0, drafts.length - KEPT);
    for (const name of oldest) storage.removeItem(name);
  }

  #age(name: string): number {
    return this.#parse(this.#get(name))?.at ?? 0;
  }

  #get(name: string): string | null {
    try {
      return this.storage?.getItem(name) ?? null;
    } catch {
      return null;
    }
  }

  #parse(value: string | null): { text: string; at: number } | null {
    try {
      return value ? (JSON.parse(value) as { text: string; at: number }) : null;
    } catch {
      return null;
    }
  }
}
