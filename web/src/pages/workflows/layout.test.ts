import { describe, expect, it } from "vitest";
import { draw, HEIGHT, WIDTH } from "./layout";
import type { GraphLink, GraphNode } from "./workflows";

const node = (name: string, x = 0, y = 0): GraphNode => ({
  name,
  type: "set",
  x,
  y,
  trigger: false,
  disabled: false,
  notes: null,
});
const link = (source: string, target: string, output = 0, kind = "main"): GraphLink => ({
  source,
  target,
  kind,
  output,
  input: 0,
});

describe("a workflow's picture", () => {
  it("keeps the places of the editor", () => {
    const { boxes, view } = draw({ nodes: [node("a"), node("整形", 240, 60)], links: [link("a", "整形")] });
    expect(boxes.map(({ x, y }) => [x, y])).toEqual([
      [0, 0],
      [240, 60],
    ]);
    expect(view.width).toBe(240 + WIDTH + 48);
    expect(view.height).toBe(60 + HEIGHT + 48);
  });

  it("is laid out in columns where the editor's places would pile up", () => {
    const links = [link("a", "b"), link("a", "c"), link("c", "d"), link("b", "d")];
    const { boxes } = draw({ nodes: ["a", "b", "c", "d"].map((name) => node(name)), links });
    const columns = boxes.map((box) => box.x);
    expect(columns[0]).toBeLessThan(columns[1] as number);
    expect(columns[1]).toBe(columns[2]);
    expect(columns[3]).toBeGreaterThan(columns[2] as number);
    expect(boxes[1]?.y).not.toBe(boxes[2]?.y);
  });

  it("survives a circle and a link to nowhere", () => {
    const links = [link("a", "b"), link("b", "a"), link("b", "gone")];
    expect(draw({ nodes: [node("a"), node("b")], links }).lines).toHaveLength(2);
  });

  it("numbers the outputs of a node that has several", () => {
    const { lines } = draw({
      nodes: [node("if"), node("yes", 300, 0), node("no", 300, 200)],
      links: [link("if", "yes", 0), link("if", "no", 1)],
    });
    expect(lines.map((line) => line.label?.text)).toEqual(["0", "1"]);
  });

  it("is empty for a workflow without nodes", () => {
    expect(draw({ nodes: [], links: [] }).boxes).toEqual([]);
  });
});
