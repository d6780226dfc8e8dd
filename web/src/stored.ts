import { useSyncExternalStore } from "react";

/** A small setting that the browser keeps. All tabs see a change; a browser that keeps nothing still works. */
export class Stored<T extends string> {
  #value: T;
  #listeners = new Set<() => void>();

  constructor(
    private readonly key: string,
    private readonly allowed: readonly T[],
    fallback: T,
  ) {
    this.#value = this.#read() ?? fallback;
    addEventListener("storage", (event) => {
      if (event.key === key) this.#take(this.#read() ?? fallback);
    });
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    try {
      localStorage.setItem(this.key, value);
    } catch {
      // Private windows may refuse; the setting then lasts as long as the page.
    }
    this.#take(value);
  }

  subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  };

  #take(value: T): void {
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }

  #read(): T | null {
    try {
      const found = localStorage.getItem(this.key);
      return this.allowed.find((value) => value === found) ?? null;
    } catch {
      return null;
    }
  }
}

export function useStored<T extends string>(stored: Stored<T>): T {
  return useSyncExternalStore(stored.subscribe, () => stored.value);
}
