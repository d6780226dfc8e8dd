import { Observable } from "./observable";

/**
 * Text that was typed but not sent or saved, by key: a session, a note, a rewritten question. The page holds it in
 * memory, so that text can be restored to a field that is not on the screen, and writes it to local storage.
 */
const PREFIX = "chie.draft.";
const MAX_DRAFTS = 50;
const SAVE_DELAY_MS = 300;

export class Drafts extends Observable {
  #texts = new Map<string, string>();
  /** Only what was typed in this tab is stored: another tab may have its own text under the same key. */
  #unsaved = new Set<string>();
  /** The stored value when this tab last read it: only that value may be removed by this tab. */
  #seen = new Map<string, string | null>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly storage: Storage | null) {
    super();
  }

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

  /** Visible at once, stored after a pause in typing. */
  type(key: string, text: string): void {
    this.#texts.set(key, text);
    this.#unsaved.add(key);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.save(), SAVE_DELAY_MS);
    this.notify();
  }

  write(key: string, text: string, now = Date.now()): void {
    this.type(key, text);
    this.save(now);
  }

  /** Restores a text that could not be sent, before anything typed since. */
  restore(key: string, text: string): void {
    const since = this.read(key);
    this.write(key, since && since !== text ? `${text}\n\n${since}` : text);
  }

  /** Moves a text to another key, before any text that is already there. */
  move(from: string, to: string): void {
    const text = this.read(from);
    if (!text) return;
    this.restore(to, text);
    this.write(from, "");
  }

  save(now = Date.now()): void {
    clearTimeout(this.#timer);
    for (const key of this.#unsaved) if (this.#store(key, now)) this.#unsaved.delete(key);
  }

  /** Drops the copy in memory, so that the next read sees a change that another tab has stored. */
  release(key: string): void {
    this.save();
    if (!this.#unsaved.has(key)) this.#texts.delete(key);
  }

  /** Where storage is full or forbidden, the draft is lost with the page. */
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
    const names = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "");
    const drafts = names.filter((name) => name.startsWith(PREFIX));
    if (drafts.length <= MAX_DRAFTS) return;
    const oldest = drafts.sort((a, b) => this.#age(a) - this.#age(b)).slice(0, drafts.length - MAX_DRAFTS);
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
