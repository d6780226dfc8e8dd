import { describe, expect, it } from "vitest";
import { SideBySide } from "./side-by-side";

function storage(initial?: string) {
  const values = new Map<string, string>(initial === undefined ? [] : [["chie.side-by-side", initial]]);
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
  };
}

describe("answers side by side", () => {
  it("are kept over a reload, each in one pair", () => {
    const stored = storage();
    const first = new SideBySide(stored);
    first.show("a", "b");
    first.show("c", "d");
    first.show("b", "e");
    expect(new SideBySide(stored).pairs).toEqual([
      ["c", "d"],
      ["b", "e"],
    ]);
    first.hide("e");
    expect(new SideBySide(stored).pairs).toEqual([["c", "d"]]);
  });

  it("are few, and unreadable storage is none", () => {
    const many = new SideBySide(storage());
    for (let number = 0; number < 150; number++) many.show(`a${number}`, `b${number}`);
    expect(many.pairs).toHaveLength(100);
    expect(many.pairs.at(-1)).toEqual(["a149", "b149"]);
    for (const broken of ["{", "7", '[["a"], 3, ["a", 1]]'])
      expect(new SideBySide(storage(broken)).pairs).toEqual([]);
  });

  it("the second agent moves with a new conversation", () => {
    const sides = new SideBySide(null);
    sides.choose("new", "echo");
    sides.move("new", "s1");
    expect([sides.agentOf("new"), sides.agentOf("s1")]).toEqual([null, "echo"]);
  });
});
