/** Places the notes of a graph on the plane from -1 to 1: linked ones close together, the others apart. */

export interface Place {
  x: number;
  y: number;
}

const MAX_STEPS = 300;
const MIN_STEPS = 40;
/** Bounds the work for many notes: every step compares all pairs. */
const MAX_PAIRS = 3e7;
const GRAVITY = 0.06;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

/** By force: all notes repel each other and links attract. The same graph always gets the same picture. */
export function graphLayout(count: number, edges: readonly (readonly [number, number])[]): Place[] {
  if (count === 0) return [];
  const [x, y] = spiral(count, edges);
  const steps = Math.round(Math.min(MAX_STEPS, Math.max(MIN_STEPS, MAX_PAIRS / count ** 2)));
  for (let step = 0; step < steps; step++) relax(x, y, edges, 0.25 * (1 - step / steps) ** 2 + 0.002);
  return normalised(x, y);
}

/** Starts in the order of a breadth-first walk, so that linked notes are neighbours from the beginning. */
function spiral(count: number, edges: readonly (readonly [number, number])[]) {
  const near: number[][] = Array.from({ length: count }, () => []);
  for (const [a, b] of edges) {
    near[a]?.push(b);
    near[b]?.push(a);
  }
  const [x, y] = [new Float64Array(count), new Float64Array(count)];
  const order = new Set<number>();
  for (let start = 0; start < count; start++) {
    const queue = [start];
    for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
      if (order.has(at)) continue;
      order.add(at);
      queue.push(...(near[at] ?? []));
    }
  }
  let place = 0;
  for (const at of order) {
    const radius = Math.sqrt((place + 0.5) / count);
    x[at] = radius * Math.cos(place * GOLDEN_ANGLE);
    y[at] = radius * Math.sin(place * GOLDEN_ANGLE);
    place++;
  }
  return [x, y] as const;
}

/** One step of Fruchterman and Reingold's method, with a pull to the centre that keeps separate parts together. */
function relax(
  x: Float64Array,
  y: Float64Array,
  edges: readonly (readonly [number, number])[],
  reach: number,
) {
  const count = x.length;
  const ideal = 1.2 / Math.sqrt(count);
  const [dx, dy] = [new Float64Array(count), new Float64Array(count)];
  const push = (a: number, b: number, force: number, vx: number, vy: number) => {
    dx[a] = (dx[a] ?? 0) + vx * force;
    dy[a] = (dy[a] ?? 0) + vy * force;
    dx[b] = (dx[b] ?? 0) - vx * force;
    dy[b] = (dy[b] ?? 0) - vy * force;
  };
  for (let a = 0; a < count; a++)
    for (let b = a + 1; b < count; b++) {
      const [vx, vy] = [(x[a] ?? 0) - (x[b] ?? 0) || 1e-6, (y[a] ?? 0) - (y[b] ?? 0)];
      push(a, b, (ideal * ideal) / (vx * vx + vy * vy + 1e-9), vx, vy);
    }
  for (const [a, b] of edges) {
    const [vx, vy] = [(x[a] ?? 0) - (x[b] ?? 0), (y[a] ?? 0) - (y[b] ?? 0)];
    push(a, b, -Math.hypot(vx, vy) / ideal, vx, vy);
  }
  for (let at = 0; at < count; at++) {
    const [fx, fy] = [(dx[at] ?? 0) - (x[at] ?? 0) * GRAVITY, (dy[at] ?? 0) - (y[at] ?? 0) * GRAVITY];
    const length = Math.hypot(fx, fy) || 1;
    const step = Math.min(length, reach) / length;
    x[at] = (x[at] ?? 0) + fx * step;
    y[at] = (y[at] ?? 0) + fy * step;
  }
}

function normalised(x: Float64Array, y: Float64Array): Place[] {
  const scaled = (values: Float64Array) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const half = (high - low) / 2;
    return Array.from(values, (value) => (half < 1e-9 ? 0 : (value - low) / half - 1));
  };
  const [left, top] = [scaled(x), scaled(y)];
  return left.map((value, at) => ({ x: value, y: top[at] ?? 0 }));
}
