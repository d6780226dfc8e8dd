import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PointIndex } from "./point-index";

const coordinate = fc.double({ min: -1, max: 1, noNaN: true });
const place = fc.record({ x: coordinate, y: coordinate });
const radius = fc.double({ min: 0.001, max: 0.5, noNaN: true });

describe("the index of points", () => {
  it("finds what a look at every point finds", () => {
    fc.assert(
      fc.property(fc.array(place, { maxLength: 60 }), place, radius, radius, (points, at, rx, ry) => {
        const distances = points.map(({ x, y }) => ((x - at.x) / rx) ** 2 + ((y - at.y) / ry) ** 2);
        const least = Math.min(...distances);
        const found = new PointIndex(points).nearest(at, rx, ry);
        if (least > 1) expect(found).toBeNull();
        else expect(distances[found ?? -1]).toBe(least);
      }),
    );
  });
});
