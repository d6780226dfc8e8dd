import { describe, expect, it } from "vitest";
import { filledIn, localDate, variablesIn } from "./prompt-template";

describe("variablesIn", () => {
  it("finds names, defaults and choices in both languages, each name once", () => {
    expect(variablesIn("{{相手}}さんへ {{tone=polite|casual}} {{ size = small }} {{相手}}")).toEqual([
      { name: "相手", preset: null, choices: [] },
      { name: "tone", preset: "polite", choices: ["polite", "casual"] },
      { name: "size", preset: "small", choices: [] },
    ]);
  });

  it("takes the default of a later occurrence", () => {
    expect(variablesIn("{{tone}} and {{tone=a|b}}")).toEqual([
      { name: "tone", preset: "a", choices: ["a", "b"] },
    ]);
  });

  it("asks for no date, and leaves other braces alone", () => {
    expect(variablesIn("{{today}} {a} {{}} {{=x}} {{a\nb}} ${{ {{")).toEqual([]);
  });

  it("knows an empty default", () => {
    expect(variablesIn("{{note=}}")).toEqual([{ name: "note", preset: "", choices: [] }]);
  });
});

describe("filledIn", () => {
  it("replaces every occurrence once, without reading values as templates", () => {
    const text = "{{a}} {{a=x|y}} {{b}} {{today}}";
    expect(filledIn(text, { a: "{{b}}", b: "$&" }, "2026-11-16")).toBe("{{b}} {{b}} $& 2026-11-16");
  });

  it("leaves out variables without a value", () => {
    expect(filledIn("[{{gone}}]", {})).toBe("[]");
  });
});

it("writes the local date", () => {
  expect(localDate(new Date(2026, 0, 5, 23, 59))).toBe("2026-01-05");
});
