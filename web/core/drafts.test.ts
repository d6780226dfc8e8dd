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
  key(place: number) {
    return [...this.#map.keys()][place] ?? null;
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
  it("are kept per session and go when they are sent", () => {
    const drafts = new Drafts(new MemoryStorage());
    drafts.write("a", "下書き");
    drafts.write("b", "other");
    drafts.write("b", "");
    expect([drafts.read("a"), drafts.read("b")]).toEqual(["下書き", ""]);
  });

  it("of long ago make room for new ones", () => {
    const storage = new MemoryStorage();
    const drafts = new Drafts(storage);
    for (let n = 0; n < 60; n++) drafts.write(`s${n}`, "x", n);
    expect(storage.length).toBe(50);
    const reloaded = new Drafts(storage);
    expect([reloaded.read("s0"), reloaded.read("s59")]).toEqual(["", "x"]);
  });

  it("do without a storage that refuses, as long as the page is there", () => {
    const drafts = new Drafts(null);
    drafts.write("a", "x");
    drafts.release("a");
    expect(drafts.read("a")).toBe("x");
  });

  it("get back what could not be sent, before what was typed since", () => {
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

  it("of another tab are not wiped by a tab in which nothing was typed", () => {
    const storage = new MemoryStorage();
    const empty = new Drafts(storage);
    expect(empty.read("new")).toBe("");
    new Drafts(storage).write("new", "typed in the other tab");
    empty.save();
    empty.release("new");
    expect(empty.read("new")).toBe("typed in the other tab");
  });

  it("of another tab are not wiped by one that sends its own", () => {
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

  it("go with a conversation that gets its place", () => {
    const drafts = new Drafts(new MemoryStorage());
    drafts.type("new", "次の質問");
    drafts.move("new", "s1");
    expect([drafts.read("new"), drafts.read("s1")]).toEqual(["", "次の質問"]);
  });

  it("tell who shows them", () => {
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
