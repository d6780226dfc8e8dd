import { Observable } from "./observable";

const KEY = "chie.side-by-side";
const MAX_PAIRS = 100;

export type Pair = readonly [string, string];

/** The pairs of answers that are shown side by side, and the agent that answers beside that of a conversation. */
export class SideBySide extends Observable {
  #pairs: readonly Pair[];
  #agents = new Map<string, string>();

  constructor(private readonly storage: Pick<Storage, "getItem" | "setItem"> | null) {
    super();
    this.#pairs = this.#read();
  }

  get pairs(): readonly Pair[] {
    return this.#pairs;
  }

  show(first: string, second: string): void {
    this.#keep([...this.#without(first, second), [first, second]]);
  }

  hide(answer: string): void {
    this.#keep(this.#without(answer));
  }

  agentOf(session: string): string | null {
    return this.#agents.get(session) ?? null;
  }

  choose(session: string, agentId: string | null): void {
    if (agentId === null) this.#agents.delete(session);
    else this.#agents.set(session, agentId);
    this.notify();
  }

  /** A new conversation has got its id. */
  move(from: string, to: string): void {
    const agentId = this.agentOf(from);
    this.choose(from, null);
    this.choose(to, agentId);
  }

  #without(...answers: string[]): Pair[] {
    return this.#pairs.filter((pair) => !answers.some((answer) => pair.includes(answer)));
  }

  #keep(pairs: readonly Pair[]): void {
    this.#pairs = pairs.slice(-MAX_PAIRS);
    try {
      this.storage?.setItem(KEY, JSON.stringify(this.#pairs));
    } catch {
      // Where storage is full or forbidden, the answers are versions again after a reload.
    }
    this.notify();
  }

  #read(): Pair[] {
    try {
      const found: unknown = JSON.parse(this.storage?.getItem(KEY) ?? "[]");
      return Array.isArray(found) ? found.filter(isPair) : [];
    } catch {
      return [];
    }
  }
}

function isPair(found: unknown): found is Pair {
  return Array.isArray(found) && found.length === 2 && found.every((one) => typeof one === "string");
}
