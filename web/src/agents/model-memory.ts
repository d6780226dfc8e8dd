import { useSyncExternalStore } from "react";
import type { ModelChoice } from "../../core/model-choice";
import { Observable } from "../../core/observable";

/** Favourite and recently used models, and the last choice, in this browser. */
const KEY = "chie.models";
const MAX_RECENT = 5;

interface Remembered {
  favourites: readonly string[];
  recent: readonly string[];
  last: ModelChoice | null;
}

const NOTHING: Remembered = { favourites: [], recent: [], last: null };

class ModelMemory extends Observable {
  #value = read();

  constructor() {
    super();
    addEventListener("storage", (event) => event.key === KEY && this.#take(read()));
  }

  get value(): Remembered {
    return this.#value;
  }

  get last(): ModelChoice | null {
    return this.#value.last;
  }

  remember(last: ModelChoice): void {
    const { model } = last;
    const others = this.#value.recent.filter((one) => one !== model);
    const recent = model ? [model, ...others].slice(0, MAX_RECENT) : this.#value.recent;
    this.#write({ ...this.#value, recent, last });
  }

  toggleFavourite(model: string): void {
    const { favourites } = this.#value;
    const without = favourites.filter((one) => one !== model);
    this.#write({
      ...this.#value,
      favourites: without.length < favourites.length ? without : [...favourites, model],
    });
  }

  #write(value: Remembered): void {
    try {
      localStorage.setItem(KEY, JSON.stringify(value));
    } catch {
      // Without storage it lasts as long as the page.
    }
    this.#take(value);
  }

  #take(value: Remembered): void {
    this.#value = value;
    this.notify();
  }
}

function read(): Remembered {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "null") as Partial<Remembered> | null;
    const texts = (list: unknown) =>
      Array.isArray(list) ? list.filter((one): one is string => typeof one === "string") : [];
    const last = found?.last && typeof found.last.parameters === "object" ? found.last : null;
    return { favourites: texts(found?.favourites), recent: texts(found?.recent), last };
  } catch {
    return NOTHING;
  }
}

export const modelMemory = new ModelMemory();

export function useModelMemory(): Remembered {
  return useSyncExternalStore(modelMemory.subscribe, () => modelMemory.value);
}
