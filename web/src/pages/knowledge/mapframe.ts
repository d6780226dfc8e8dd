/** Which part of the plane is seen. Places are between 0 and 1 on the screen, between -1 and 1 on the plane. */
import type { Point } from "./notes";

export interface Frame {
  zoom: number;
  x: number;
  y: number;
}

export const START: Frame = { zoom: 1, x: 0, y: 0 };
export const COLOURS = 8;

const MOST = 40;

/** What is at the place `(x, y)` of the screen stays there. Never smaller than the whole. */
export function zoomed(frame: Frame, factor: number, x = 0.5, y = 0.5): Frame {
  const zoom = Math.min(MOST, Math.max(1, frame.zoom * factor));
  const ratio = zoom / frame.zoom;
  const [px, py] = [x * 2 - 1, y * 2 - 1];
  return held({ zoom, x: px - (px - frame.x) * ratio, y: py - (py - frame.y) * ratio });
}

export function moved(frame: Frame, dx: number, dy: number): Frame {
  return held({ ...frame, x: frame.x + dx * 2, y: frame.y + dy * 2 });
}

/** The plane never leaves the screen. */
function held({ zoom, x, y }: Frame): Frame {
  const reach = zoom - 1;
  return { zoom, x: Math.max(-reach, Math.min(reach, x)), y: Math.max(-reach, Math.min(reach, y)) };
}

export function inFrame(point: Point, { zoom, x, y }: Frame): boolean {
  return Math.abs(point.x * 0.94 * zoom + x) <= 1 && Math.abs(-point.y * 0.94 * zoom + y) <= 1;
}

/** Between 0 and 1, from the upper left corner. */
export function screenPlace(point: Point, { zoom, x, y }: Frame): { x: number; y: number } {
  return { x: (point.x * 0.94 * zoom + x + 1) / 2, y: (-point.y * 0.94 * zoom + y + 1) / 2 };
}

/** The tags that get a colour of their own: those of most notes. */
export function commonTags(points: readonly Point[]): string[] {
  const counts = new Map<string, number>();
  for (const tag of points.flatMap((point) => point.tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const spread = [...counts].filter(([, count]) => count < points.length);
  return spread
    .sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))
    .slice(0, COLOURS)
    .map(([tag]) => tag);
}

export function colourOf(point: Point, tags: readonly string[]): string {
  const index = tags.findIndex((tag) => point.tags.includes(tag));
  return index < 0 ? "kn-colour-none" : `kn-colour-${index}`;
}
