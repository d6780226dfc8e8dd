import { useSyncExternalStore } from "react";
import { Observable } from "../../core/observable";

/** Tools that the user has allowed to run without approval, in this browser: their definitions by name. */
const KEY = "chie.allowed-tools";

type Allowed = Readonly<Record<string, string>>;

class AllowedTools extends Observable {
  #tools: Allowed = this.#read();

  constructor() {
    super();
    addEventListener("storage", (event) => event.key === KEY && this.#take(this.#read()));
  }

  /** False for a tool that has been redefined since it was allowed, and for one that asks every time. */
  has(name: string, definition?: string): boolean {
    return definition !== undefined && Object.hasOwn(this.#tools, name) && this.#tools[name] === definition;
  }

  /** Whether the user has allowed a tool of this name, but another definition of it. */
  hasChanged(name: string, definition?: string): boolean {
    return definition !== undefined && Object.hasOwn(this.#tools, name) && this.#tools[name] !== definition;
  }

  get tools(): Allowed {
    return this.#tools;
  }

  add(name: string, definition: string): void {
    this.#write({ ...this.#tools, [name]: definition });
  }

  clear(): void {
    this.#write({});
  }

  #write(tools: Allowed): void {
    try {
      localStorage.setItem(KEY, JSON.stringify(tools));
    } catch {
      // Without storage the permission lasts until the page is closed.
    }
    this.#take(tools);
  }

  #take(tools: Allowed): void {
    this.#tools = tools;
    this.notify();
  }

  /** Earlier versions stored names alone; those ask once more. */
  #read(): Allowed {
    try {
      const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
      if (typeof found !== "object" || found === null || Array.isArray(found)) return {};
      return Object.fromEntries(Object.entries(found).filter(([, one]) => typeof one === "string"));
    } catch {
      return {};
    }
  }
}

export const allowedTools = new AllowedTools();

export function useAllowedTools(): readonly string[] {
  return Object.keys(useSyncExternalStore(allowedTools.subscribe, () => allowedTools.tools));
}
