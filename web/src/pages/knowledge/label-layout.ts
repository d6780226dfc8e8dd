/** Places titles beside points so that no two overlap; those without enough space are left out. */

export interface Label {
  /** The position of the point in the list. */
  at: number;
  left: number;
  top: number;
  width: number;
}

const HEIGHT = 17;
const GAP = 9;
const MAX_WIDTH = 170;
/** Of characters at the size of a label. */
const WIDE = 12.5;
const NARROW = 7;

/** `x` and `y` of a point are between 0 and 1, from the upper left corner. The first points come first. */
export function placedLabels(
  points: readonly { x: number; y: number; text: string }[],
  { width, height }: { width: number; height: number },
): Label[] {
  const dots = points.map(({ x, y }) => box(x * width - 6, y * height - 6, 12, 12));
  const placed: Label[] = [];
  const taken = [...dots];
  points.forEach(({ x, y, text }, at) => {
    const [px, py, size] = [x * width, y * height, Math.min(MAX_WIDTH, widthOf(text), width / 2)];
    const candidates = [
      [px + GAP, py - HEIGHT / 2],
      [px - GAP - size, py - HEIGHT / 2],
      [px - size / 2, py - GAP - HEIGHT],
      [px - size / 2, py + GAP],
    ] as const;
    for (const [left, top] of candidates) {
      const place = box(left, top, size, HEIGHT);
      const inside = left >= 0 && top >= 0 && place.right <= width && place.bottom <= height;
      if (!inside || taken.some((other, index) => index !== at && overlap(place, other))) continue;
      taken.push(place);
      placed.push({ at, left, top, width: size });
      break;
    }
  });
  return placed;
}

function widthOf(text: string): number {
  return [...text].reduce((sum, letter) => sum + (letter > "\u2e7f" ? WIDE : NARROW), 4);
}

function box(left: number, top: number, width: number, height: number) {
  return { left, top, right: left + width, bottom: top + height };
}

function overlap(a: ReturnType<typeof box>, b: ReturnType<typeof box>): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
