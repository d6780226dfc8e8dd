import { describe, expect, it } from "vitest";
import { Drafts } from "./drafts";

class MemoryStorage implements Storage {
  #map = new Map<string, string>();
  [name: string]: unknown;
  get length() {
    return this.#map.size;
  }
  clear() {
    this.#map.clear();
  }
  key(index: number) {
    return [...this.#map.keys()][index] ?? null;
  }
  getItem(name: string) {
    return this.#map.get(name) ?? null;
  }
  setItem(name: string, value: string) {
    this.#map.set(name, value);
  }
  removeItem(name: string) {
    this.#map.delete(name);
  }
}

describe("drafts", () => {
  it("are kept per session and removed when they are sent", () => {
    const drafts = new Drafts(new MemoryStorage());
    drafts.write("a", "下書き");
    drafts.write("b", "other");
    drafts.write("b", "");
    expect([drafts.read("a"), drafts.read("b")]).toEqual(["下書き", ""]);
  });

  it("are pruned, oldest first", () => {
    const storage = new MemoryStorage();
    const drafts = new Drafts(storage);
    for (let n = 0; n < 60; n++) drafts.write(`s${n}`, "x", n);
    expect(storage.length).toBe(50);
    const reloaded = new Drafts(storage);
    expect([reloaded.read("s0"), reloaded.read("s59")]).toEqual(["", "x"]);
  });

  it("work without storage for the lifetime of the page", () => {
    const drafts = new Drafts(null);
    drafts.write("a", "x");
    drafts.release("a");
    expect(drafts.read("a")).toBe("x");
  });

  it("restore text that could not be sent, before text typed since", () => {
    const storage = new MemoryStorage();
    const drafts = new Drafts(storage);
    drafts.restore("a", "届かなかった質問");
    drafts.type("b", "typed since");
    drafts.restore("b", "not sent");
    drafts.restore("b", "not sent\n\ntyped since");
    const reloaded = new Drafts(storage);
    expect(reloaded.read("a")).toBe("届かなかった質問");
    expect(reloaded.read("b")).toBe("not sent\n\ntyped since");
  });

  it("of another tab are not removed by a tab without input", () => {
    const storage = new MemoryStorage();
    const empty = new Drafts(storage);
    expect(empty.read("new")).toBe("");
    new Drafts(storage).write("new", "typed in the other tab");
    empty.save();
    empty.release("new");
    expect(empty.read("new")).toBe("typed in the other tab");
  });

  it("of another tab are not removed by a tab that sends its own", () => {
    const storage = new MemoryStorage();
    const [one, other] = [new Drafts(storage), new Drafts(storage)];
    expect([one.read("new"), other.read("new")]).toEqual(["", ""]);
    one.write("new", "half a question");
    other.type("new", "a short one, sent at once");
    other.write("new", "");
    expect(new Drafts(storage).read("new")).toBe("half a question");
    one.write("new", "");
    expect(storage.length).toBe(0);
  });

  it("move to another key", () => {
    const drafts = new Drafts(new MemoryStorage());
    drafts.type("new", "次の質問");
    drafts.move("new", "s1");
    expect([drafts.read("new"), drafts.read("s1")]).toEqual(["", "次の質問"]);
  });

  it("notify subscribers", () => {
    const drafts = new Drafts(new MemoryStorage());
    const seen: string[] = [];
    const stop = drafts.subscribe(() => seen.push(drafts.read("a")));
    drafts.type("a", "x");
    drafts.restore("a", "y");
    stop();
    drafts.type("a", "z");
    expect(seen).toEqual(["x", "y\n\nx"]);
  });
});
