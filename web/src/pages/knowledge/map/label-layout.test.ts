import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HEIGHT, overlap, placedLabels } from "./label-layout";

const share = fc.double({ min: 0, max: 1, noNaN: true });
const point = fc.record({ x: share, y: share, text: fc.string({ maxLength: 40 }) });
const size = fc.record({
  width: fc.integer({ min: 60, max: 1400 }),
  height: fc.integer({ min: 60, max: 900 }),
});
const measure = (text: string) => [...text].length * 7.3;

describe("the labels of the map", () => {
  it("never collide with each other or with a point, and stay inside of the picture", () => {
    fc.assert(
      fc.property(fc.array(point, { maxLength: 120 }), size, (points, frame) => {
        const labels = placedLabels(points, frame, measure);
        const boxes = labels.map(({ left, top, width }) => ({
          left,
          top,
          right: left + width,
          bottom: top + HEIGHT,
        }));
        const dots = points.map(({ x, y }) => ({
          left: x * frame.width - 6,
          top: y * frame.height - 6,
          right: x * frame.width + 6,
          bottom: y * frame.height + 6,
        }));
        boxes.forEach((one, at) => {
          expect(boxes.slice(at + 1).some((other) => overlap(one, other))).toBe(false);
          expect(dots.some((dot) => overlap(one, dot))).toBe(false);
          expect(one.left >= 0 && one.top >= 0).toBe(true);
          expect(one.right <= frame.width && one.bottom <= frame.height).toBe(true);
        });
      }),
    );
  });

  it("have the measured width, and the first points come first", () => {
    const points = [
      { x: 0.5, y: 0.5, text: "復旧の手順" },
      { x: 0.5, y: 0.5, text: "second" },
    ];
    const frame = { width: 400, height: 300 };
    const [first] = placedLabels(points, frame, () => 61.2, 1);
    expect(first).toMatchObject({ at: 0, width: 63 });
    expect(placedLabels(points, frame, () => 61.2, 1)).toHaveLength(1);
    expect(placedLabels([{ x: 0.5, y: 0.5, text: "long" }], frame, () => 900)[0]?.width).toBe(170);
  });

  it("take another side at the edge", () => {
    const [label] = placedLabels([{ x: 0.99, y: 0.5, text: "nginx" }], { width: 800, height: 400 }, measure);
    expect((label?.left ?? 0) + (label?.width ?? 0)).toBeLessThan(792);
    expect(placedLabels([{ x: 0.5, y: 0.5, text: "nginx" }], { width: 0, height: 0 }, measure)).toEqual([]);
  });
});
