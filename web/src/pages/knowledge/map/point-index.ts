/** Finds the point under the pointer among thousands: a grid over the map, whose coordinates run from -1 to 1. */
const CELLS = 64;

interface Place {
  x: number;
  y: number;
}

export class PointIndex {
  #cells = new Map<number, number[]>();

  constructor(private readonly points: readonly Place[]) {
    points.forEach(({ x, y }, at) => {
      const key = cell(x) * CELLS + cell(y);
      const found = this.#cells.get(key);
      if (found) found.push(at);
      else this.#cells.set(key, [at]);
    });
  }

  /** The position of the nearest point within `rx` and `ry`, which are one distance on the screen. */
  nearest({ x, y }: Place, rx: number, ry: number): number | null {
    let best: number | null = null;
    let least = 1;
    for (let column = cell(x - rx); column <= cell(x + rx); column += 1)
      for (let row = cell(y - ry); row <= cell(y + ry); row += 1)
        for (const at of this.#cells.get(column * CELLS + row) ?? []) {
          const point = this.points[at];
          const distance = point ? ((point.x - x) / rx) ** 2 + ((point.y - y) / ry) ** 2 : 2;
          // Of points at one place, the last is drawn on top.
          if (distance <= least) [best, least] = [at, distance];
        }
    return best;
  }
}

function cell(coordinate: number): number {
  return Math.min(CELLS - 1, Math.max(0, Math.floor(((coordinate + 1) / 2) * CELLS)));
}
