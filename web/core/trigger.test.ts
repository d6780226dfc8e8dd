import { describe, expect, it } from "vitest";
import { matching, triggerAt } from "./trigger";

const at = (text: string) => triggerAt(text, text.length);

describe("triggerAt", () => {
  it("finds prompts at the start of the message only", () => {
    expect(at("/")).toEqual({ kind: "prompts", start: 0, query: "" });
    expect(at("／知")).toEqual({ kind: "prompts", start: 0, query: "知" });
    expect(at("/know it")).toBeNull();
    expect(at("see /etc")).toBeNull();
  });

  it("finds resources at the start of a word", () => {
    expect(at("@")).toEqual({ kind: "resources", start: 0, query: "" });
    expect(at("read @ngi")).toEqual({ kind: "resources", start: 5, query: "ngi" });
    expect(at("これは＠手順")).toEqual({ kind: "resources", start: 3, query: "手順" });
    expect(at("mail to a.b@example.test")).toBeNull();
    expect(at("@one two")).toBeNull();
  });

  it("looks at the text before the caret", () => {
    expect(triggerAt("@a and more", 2)).toEqual({ kind: "resources", start: 0, query: "a" });
    expect(triggerAt("@a and more", 5)).toBeNull();
  });
});

describe("matching", () => {
  const item = (title: string, server = "notes") => ({ title, server, description: "" });
  it("ignores case and width, and puts beginnings first", () => {
    const items = [item("The Plan"), item("Planning"), item("手順", "Ｗｉｋｉ")];
    expect(matching(items, "plan").map((one) => one.title)).toEqual(["Planning", "The Plan"]);
    expect(matching(items, "wiki").map((one) => one.title)).toEqual(["手順"]);
    expect(matching(items, "", 2)).toHaveLength(2);
  });
});
