import { useSyncExternalStore } from "react";
import { Observable } from "../../../core/observable";

/** Tools that the user has allowed to run without approval, in this browser. */
const KEY = "chie.allowed-tools";

class AllowedTools extends Observable {
  #names: readonly string[] = this.#read();

  constructor() {
    super();
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

  #write(names: readonly string[]): void {
    try {
      localStorage.setItem(KEY, JSON.stringify(names));
    } catch {
      // Without storage the permission lasts until the page is closed.
    }
    this.#take(names);
  }

  #take(names: readonly string[]): void {
    this.#names = names;
    this.notify();
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
