/** Places titles beside points so that no two overlap, nor cover a point; those without enough space are left out. */

export interface Label {
  /** The position of the point in the list. */
  at: number;
  left: number;
  top: number;
  width: number;
}

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export const HEIGHT = 17;
const GAP = 9;
const MAX_WIDTH = 170;
const DOT = 6;

/**
 * `x` and `y` of a point are between 0 and 1, from the upper left corner. The first points come first. `measure` is the
 * width of a text at the size of a label.
 */
export function placedLabels(
  points: readonly { x: number; y: number; text: string }[],
  { width, height }: { width: number; height: number },
  measure: (text: string) => number,
  max = Number.POSITIVE_INFINITY,
): Label[] {
  const taken = points.map(({ x, y }) => box(x * width - DOT, y * height - DOT, 2 * DOT, 2 * DOT));
  const placed: Label[] = [];
  for (const [at, { x, y, text }] of points.entries()) {
    if (placed.length >= max) break;
    const [px, py] = [x * width, y * height];
    const size = Math.min(MAX_WIDTH, Math.ceil(measure(text)) + 1, width / 2);
    const candidates = [
      [px + GAP, py - HEIGHT / 2],
      [px - GAP - size, py - HEIGHT / 2],
      [px - size / 2, py - GAP - HEIGHT],
      [px - size / 2, py + GAP],
    ] as const;
    for (const [left, top] of candidates) {
      const place = box(left, top, size, HEIGHT);
      const inside = left >= 0 && top >= 0 && place.right <= width && place.bottom <= height;
      if (!inside || taken.some((one) => overlap(one, place))) continue;
      taken.push(place);
      placed.push({ at, left, top, width: size });
      break;
    }
  }
  return placed;
}

export function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

function box(left: number, top: number, width: number, height: number): Box {
  return { left, top, right: left + width, bottom: top + height };
}
