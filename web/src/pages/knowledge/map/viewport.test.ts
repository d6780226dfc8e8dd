import { describe, expect, it } from "vitest";
import type { Point } from "../notes";
import {
  colourOf,
  commonTags,
  fromScreen,
  isVisible,
  moved,
  nearest,
  START,
  toScreen,
  zoomed,
} from "./viewport";

const point = (id: string, tags: string[], x = 0, y = 0): Point => ({ id, title: id, tags, x, y });

describe("the viewport of the map", () => {
  it("zooms around the pointer", () => {
    const frame = zoomed(START, 3, 0.8, 0.3);
    expect((0.6 - frame.x) / frame.zoom).toBeCloseTo(0.6);
    expect((-0.4 - frame.y) / frame.zoom).toBeCloseTo(-0.4);
  });

  it("never leaves the map, nor shows more than it", () => {
    expect(zoomed(START, 0.1)).toEqual(START);
    expect(moved(START, 5, 5)).toEqual(START);
    expect(moved(zoomed(START, 2), 9, -9)).toEqual({ zoom: 2, x: 1, y: -1 });
    expect(zoomed(START, 1e9).zoom).toBe(40);
  });

  it("finds the place on the map under the pointer", () => {
    const frame = moved(zoomed(START, 3, 0.8, 0.3), 0.1, -0.2);
    const { x, y } = fromScreen(toScreen(point("a", [], 0.3, -0.7), frame), frame);
    expect([x, y]).toEqual([expect.closeTo(0.3), expect.closeTo(-0.7)]);
  });

  it("knows which notes are in view", () => {
    const corner = point("a", [], 1, 1);
    expect(isVisible(corner, START)).toBe(true);
    expect(isVisible(corner, zoomed(START, 2))).toBe(false);
    expect(isVisible(corner, zoomed(START, 2, 1, 0))).toBe(true);
  });
});

describe("the point under the pointer", () => {
  const points = [point("a", [], 0, 0), point("b", [], 0.5, 0), point("c", [], 0.5, 0)];

  it("is the nearest within reach, and the one that is drawn last", () => {
    expect(nearest(points, { x: 0.1, y: 0 }, 0.2, 0.2)).toBe(0);
    expect(nearest(points, { x: 0.45, y: 0 }, 0.5, 0.5)).toBe(2);
    expect(nearest(points, { x: 0.25, y: 0.9 }, 0.3, 0.3)).toBeNull();
  });

  it("is as far away in width as the picture is wide", () => {
    expect(nearest(points, { x: 0.2, y: 0 }, 0.1, 0.4)).toBeNull();
    expect(nearest(points, { x: 0.2, y: 0 }, 0.4, 0.1)).toBe(0);
  });
});

describe("the colours of the map", () => {
  it("go to the most used tags, not to one that all notes share", () => {
    const points = [point("a", ["all", "検索"]), point("b", ["all", "検索", "git"]), point("c", ["all"])];
    const tags = commonTags(points);
    expect(tags).toEqual(["検索", "git"]);
    expect(points.map((one) => colourOf(one, tags))).toEqual([
      "kn-colour-0",
      "kn-colour-0",
      "kn-colour-none",
    ]);
  });
});
