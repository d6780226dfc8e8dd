import { describe, expect, it } from "vitest";
import { graphLayout } from "./link-layout";

describe("the layout of the graph", () => {
  it("has linked notes closer together than others, and stays on the plane", () => {
    const places = graphLayout(6, [
      [0, 1],
      [1, 2],
      [3, 4],
      [4, 5],
    ]);
    const distance = (a: number, b: number) =>
      Math.hypot((places[a]?.x ?? 0) - (places[b]?.x ?? 0), (places[a]?.y ?? 0) - (places[b]?.y ?? 0));
    expect(distance(0, 1)).toBeLessThan(distance(0, 4));
    expect(distance(3, 4)).toBeLessThan(distance(3, 1));
    for (const { x, y } of places) expect(Math.max(Math.abs(x), Math.abs(y))).toBeLessThanOrEqual(1);
    expect(new Set(places.map(({ x, y }) => `${x.toFixed(2)} ${y.toFixed(2)}`)).size).toBe(6);
  });

  it("is the same every time, and copes with nothing, one note and many", () => {
    expect(graphLayout(0, [])).toEqual([]);
    expect(graphLayout(1, [])).toEqual([{ x: 0, y: 0 }]);
    const edges = Array.from({ length: 999 }, (_, at) => [at, (at * 7) % 1000] as const);
    const places = graphLayout(1000, edges);
    expect(places).toEqual(graphLayout(1000, edges));
    expect(places.every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))).toBe(true);
  });
});
