import { describe, expect, it } from "vitest";
import { layoutGraph, NODE_HEIGHT, NODE_WIDTH } from "../../../../src/chie/n8n/graph_layout.js";

const node = (name: string, x?: number, y?: number) => ({ name, x, y });
const link = (source: string, target: string, output = 0, kind = "main", input = 0) => ({
  source,
  target,
  kind,
  output,
  input,
});

function positions(names: string[], links: ReturnType<typeof link>[]) {
  const { boxes } = layoutGraph(
    names.map((name) => node(name)),
    links,
  );
  return new Map(boxes.map((box) => [box.name, box]));
}

const at = (boxes: ReturnType<typeof positions>, name: string) =>
  boxes.get(name) ?? { x: Number.NaN, y: Number.NaN };

describe("the layout of a workflow", () => {
  it("keeps the positions of n8n's editor", () => {
    const { boxes, view } = layoutGraph([node("a", 0, 0), node("整形", 240, 60)], [link("a", "整形")]);
    expect(boxes.map(({ x, y }) => [x, y])).toEqual([
      [0, 0],
      [240, 60],
    ]);
    expect(view.width).toBe(240 + NODE_WIDTH + 48);
    expect(view.height).toBe(60 + NODE_HEIGHT + 48);
  });

  it("arranges nodes in columns where the editor's positions would overlap", () => {
    const { boxes } = layoutGraph([node("a", 0, 0), node("b", 20, 20)], [link("a", "b")]);
    expect(boxes[1]?.x).toBeGreaterThan(NODE_WIDTH);
  });

  it("puts each node after its furthest predecessor, and a merge between its branches", () => {
    const links = [link("a", "b"), link("a", "c", 1), link("c", "d"), link("b", "d"), link("a", "d")];
    const boxes = positions(["a", "b", "c", "d"], links);
    expect(at(boxes, "a").x).toBeLessThan(at(boxes, "b").x);
    expect(at(boxes, "b").x).toBe(at(boxes, "c").x);
    expect(at(boxes, "d").x).toBeGreaterThan(at(boxes, "c").x);
    expect(at(boxes, "c").y).toBeGreaterThan(at(boxes, "b").y);
    expect(at(boxes, "d").y).toBeLessThan(at(boxes, "c").y);
  });

  it("orders branches by output, whatever the order of the nodes", () => {
    const boxes = positions(["no", "yes", "if"], [link("if", "no", 1), link("if", "yes", 0)]);
    expect(at(boxes, "yes").y).toBeLessThan(at(boxes, "no").y);
  });

  it("puts the sub-nodes of an agent in a row below it, also those of a tool", () => {
    const links = [
      link("start", "agent"),
      link("agent", "end"),
      link("model", "agent", 0, "ai_languageModel"),
      link("store", "agent", 0, "ai_tool"),
      link("embeddings", "store", 0, "ai_embedding"),
    ];
    const boxes = positions(["model", "store", "embeddings", "start", "agent", "end"], links);
    expect(at(boxes, "model").x).toBe(at(boxes, "agent").x);
    expect(at(boxes, "model").y).toBeGreaterThan(at(boxes, "agent").y);
    expect(at(boxes, "store").y).toBe(at(boxes, "model").y);
    expect(at(boxes, "embeddings").y).toBeGreaterThan(at(boxes, "store").y);
  });

  it("never lets boxes overlap", () => {
    const links = [
      ...["a", "b", "c"].map((name, output) => link("switch", name, output)),
      ...["a", "b", "c"].map((name) => link(name, "agent")),
      ...["m1", "m2", "m3"].map((name) => link(name, "agent", 0, "ai_tool")),
      ...["n1", "n2"].map((name) => link(name, "b", 0, "ai_tool")),
    ];
    const boxes = [
      ...positions(["switch", "a", "b", "c", "agent", "m1", "m2", "m3", "n1", "n2"], links).values(),
    ];
    for (const [index, one] of boxes.entries())
      for (const two of boxes.slice(index + 1))
        expect(Math.abs(one.x - two.x) >= NODE_WIDTH || Math.abs(one.y - two.y) >= NODE_HEIGHT).toBe(true);
  });

  it("draws a link back below the nodes, and leaves out links to unknown nodes", () => {
    const links = [link("a", "b"), link("b", "c"), link("c", "a"), link("b", "gone")];
    const { lines, view } = layoutGraph(
      ["a", "b", "c"].map((name) => node(name)),
      links,
    );
    expect(lines).toHaveLength(3);
    expect(lines[2]?.bottom).toBeGreaterThan(NODE_HEIGHT);
    expect(view.y + view.height).toBeGreaterThan(lines[2]?.bottom ?? 0);
  });

  it("survives sub-nodes that form a cycle", () => {
    const links = [link("a", "b", 0, "ai_tool"), link("b", "a", 0, "ai_tool")];
    expect(positions(["a", "b"], links).size).toBe(2);
  });

  it("numbers the outputs of a node that has several, and names the ports of sub-nodes", () => {
    const { lines } = layoutGraph(
      [node("if", 0, 0), node("yes", 300, 0), node("no", 300, 200), node("model", 0, 200)],
      [link("if", "yes", 0), link("if", "no", 1), link("model", "yes", 0, "ai_languageModel")],
    );
    expect(lines.map((line) => line.label?.text)).toEqual(["0", "1", "languageModel"]);
  });

  it("is empty for a workflow without nodes", () => {
    expect(layoutGraph([], []).boxes).toEqual([]);
  });
});
