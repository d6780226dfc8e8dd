import { useSyncExternalStore } from "react";
import { Observable } from "../core/observable";

/** A setting in the browser's local storage. A change reaches all tabs; without storage it lasts as long as the page. */
export class StoredSetting<T extends string> extends Observable {
  #value: T;

  constructor(
    private readonly key: string,
    private readonly allowed: readonly T[],
    fallback: T,
  ) {
    super();
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
      // Private windows may refuse to store.
    }
    this.#take(value);
  }

  #take(value: T): void {
    this.#value = value;
    this.notify();
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

export function useStoredSetting<T extends string>(stored: StoredSetting<T>): T {
  return useSyncExternalStore(stored.subscribe, () => stored.value);
}
