/** What was typed and not sent yet, by session. The browser keeps it; the oldest go when there are many. */
const PREFIX = "chie.draft.";
const KEPT = 50;

export class Drafts {
  constructor(private readonly storage: Storage | null) {}

  read(key: string): string {
    return this.#parse(this.#get(PREFIX + key))?.text ?? "";
  }

  write(key: string, text: string, now = Date.now()): void {
    try {
      if (text) this.storage?.setItem(PREFIX + key, JSON.stringify({ text, at: now }));
      else this.storage?.removeItem(PREFIX + key);
      this.#prune();
    } catch {
      // A full or forbidden storage costs the draft, not the typing.
    }
  }

  #prune(): void {
    const { storage } = this;
    if (!storage) return;
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
