/** The visible part of the map. Screen coordinates run from 0 to 1, map coordinates from -1 to 1. */
import type { Point } from "../notes";

interface Place {
  x: number;
  y: number;
}

export interface Viewport {
  zoom: number;
  x: number;
  y: number;
}

export const START: Viewport = { zoom: 1, x: 0, y: 0 };
export const COLOURS = 8;

const MAX_ZOOM = 40;
/** Leaves a margin around the outermost points. */
export const SCALE = 0.94;

/** Zooms around the screen position `(x, y)`, never out beyond the whole map. */
export function zoomed(viewport: Viewport, factor: number, x = 0.5, y = 0.5): Viewport {
  const zoom = Math.min(MAX_ZOOM, Math.max(1, viewport.zoom * factor));
  const ratio = zoom / viewport.zoom;
  const [px, py] = [x * 2 - 1, y * 2 - 1];
  return clamped({ zoom, x: px - (px - viewport.x) * ratio, y: py - (py - viewport.y) * ratio });
}

export function moved(viewport: Viewport, dx: number, dy: number): Viewport {
  return clamped({ ...viewport, x: viewport.x + dx * 2, y: viewport.y + dy * 2 });
}

/** Keeps the map on the screen. */
function clamped({ zoom, x, y }: Viewport): Viewport {
  const reach = zoom - 1;
  return { zoom, x: Math.max(-reach, Math.min(reach, x)), y: Math.max(-reach, Math.min(reach, y)) };
}

export function isVisible(point: Point, { zoom, x, y }: Viewport, margin = 0): boolean {
  const edge = 1 + margin;
  return Math.abs(point.x * SCALE * zoom + x) <= edge && Math.abs(-point.y * SCALE * zoom + y) <= edge;
}

/** Map coordinates of a position on the screen. */
export function fromScreen(at: Place, { zoom, x, y }: Viewport): Place {
  return { x: (at.x * 2 - 1 - x) / (SCALE * zoom), y: -(at.y * 2 - 1 - y) / (SCALE * zoom) };
}

/** Screen coordinates, from the upper left corner. */
export function toScreen(point: Point, { zoom, x, y }: Viewport): Place {
  return { x: (point.x * SCALE * zoom + x + 1) / 2, y: (-point.y * SCALE * zoom + y + 1) / 2 };
}

/** The tags that get a colour: the most frequent ones. */
export function commonTags(points: readonly Point[]): string[] {
  const counts = new Map<string, number>();
  for (const tag of points.flatMap((point) => point.tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const spread = [...counts].filter(([, count]) => count < points.length);
  return spread
    .sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))
    .slice(0, COLOURS)
    .map(([tag]) => tag);
}

/** The class of a point: the colour of its first tag that has one. */
export function colourOf(point: Point, tags: readonly string[]): string {
  const index = tags.findIndex((tag) => point.tags.includes(tag));
  return index < 0 ? "kn-colour-none" : `kn-colour-${index}`;
}

/** The position of the point nearest to `at` within `rx` and `ry`, which are one distance on the screen. */
export function nearest(points: readonly Place[], at: Place, rx: number, ry: number): number | null {
  let best: number | null = null;
  let least = 1;
  for (const [index, { x, y }] of points.entries()) {
    const distance = ((x - at.x) / rx) ** 2 + ((y - at.y) / ry) ** 2;
    // Of points at one place, the last is drawn on top.
    if (distance <= least) [best, least] = [index, distance];
  }
  return best;
}
