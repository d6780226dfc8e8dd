import { useSyncExternalStore } from "react";

/** The tools that the user lets run without being asked, in this browser. */
const KEY = "chie.allowed-tools";

class AllowedTools {
  #names: readonly string[] = this.#read();
  #listeners = new Set<() => void>();

  constructor() {
    addEventListener("storage", (event) => event.key === KEY && this.#take(this.#read()));
  }

  has(name: string): boolean {
    return this.#names.includes(name);
  }

  get names(): readonly string[] {
    return this.#names;
  }

  add(name: string): void {
    if (!this.has(name)) this.#write([...this.#names, name]);
  }

  clear(): void {
    this.#write([]);
  }

  subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  };

  #write(names: readonly string[]): void {
    try {
      localStorage.setItem(KEY, JSON.stringify(names));
    } catch {
      // Then it counts until the page is closed.
    }
    this.#take(names);
  }

  #take(names: readonly string[]): void {
    this.#names = names;
    for (const listener of this.#listeners) listener();
  }

  #read(): readonly string[] {
    try {
      const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
      return Array.isArray(found) ? found.filter((name) => typeof name === "string") : [];
    } catch {
      return [];
    }
  }
}

export const allowedTools = new AllowedTools();

export function useAllowedTools(): readonly string[] {
  return useSyncExternalStore(allowedTools.subscribe, () => allowedTools.names);
}
