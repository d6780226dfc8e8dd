/** Where the boxes of a workflow stand and how its lines run. */
import type { Graph, GraphLink, GraphNode } from "./workflows";

export const WIDTH = 164;
export const HEIGHT = 52;

const COLUMN = WIDTH + 64;
const ROW = HEIGHT + 34;
const MARGIN = 24;

export interface Box extends GraphNode {
  x: number;
  y: number;
}

export interface Line extends GraphLink {
  path: string;
  label: { x: number; y: number; text: string } | null;
}

export interface Drawing {
  boxes: Box[];
  lines: Line[];
  view: { x: number; y: number; width: number; height: number };
}

/** As in n8n's editor; where that would pile boxes up, in columns from left to right. */
export function draw(graph: Pick<Graph, "nodes" | "links">): Drawing {
  const placed = graph.nodes.map((node) => ({ ...node }));
  const boxes = collide(placed) ? inColumns(graph) : placed;
  const byName = new Map(boxes.map((box) => [box.name, box]));
  return {
    boxes,
    lines: graph.links.flatMap((link) => line(link, byName, graph.links)),
    view: around(boxes),
  };
}

function collide(boxes: Box[]): boolean {
  return boxes.some((one, at) =>
    boxes.slice(at + 1).some((two) => Math.abs(one.x - two.x) < WIDTH && Math.abs(one.y - two.y) < HEIGHT),
  );
}

/** A node's column is its longest way from a start; a circle is cut where it is met. */
function inColumns({ nodes, links }: Pick<Graph, "nodes" | "links">): Box[] {
  const before = new Map<string, string[]>();
  for (const { source, target } of links) before.set(target, [...(before.get(target) ?? []), source]);
  const column = new Map<string, number>();
  const depth = (name: string, seen: ReadonlySet<string>): number => {
    const known = column.get(name);
    if (known !== undefined) return known;
    if (seen.has(name)) return 0;
    const path = new Set([...seen, name]);
    const found = Math.max(-1, ...(before.get(name) ?? []).map((source) => depth(source, path))) + 1;
    column.set(name, found);
    return found;
  };
  const filled = new Map<number, number>();
  return nodes.map((node) => {
    const at = depth(node.name, new Set());
    const row = filled.get(at) ?? 0;
    filled.set(at, row + 1);
    return { ...node, x: at * COLUMN, y: row * ROW };
  });
}

function line(link: GraphLink, boxes: Map<string, Box>, links: GraphLink[]): Line[] {
  const source = boxes.get(link.source);
  const target = boxes.get(link.target);
  if (!source || !target) return [];
  if (link.kind !== "main") return [{ ...link, path: upward(source, target), label: null }];
  const outputs =
    1 +
    Math.max(
      ...links.filter((one) => one.source === link.source && one.kind === "main").map((one) => one.output),
    );
  const from = { x: source.x + WIDTH, y: source.y + (HEIGHT * (link.output + 1)) / (outputs + 1) };
  const to = { x: target.x, y: target.y + HEIGHT / 2 };
  const bend = Math.max(28, Math.abs(to.x - from.x) / 2);
  return [
    {
      ...link,
      path: `M${from.x} ${from.y}C${from.x + bend} ${from.y} ${to.x - bend} ${to.y} ${to.x} ${to.y}`,
      label: outputs > 1 ? { x: from.x + 6, y: from.y - 4, text: String(link.output) } : null,
    },
  ];
}

/** What serves an agent (a model, a memory, a tool) hangs below it. */
function upward(source: Box, target: Box): string {
  const from = { x: source.x + WIDTH / 2, y: source.y };
  const to = { x: target.x + WIDTH / 2, y: target.y + HEIGHT };
  const bend = Math.max(24, Math.abs(from.y - to.y) / 2);
  return `M${from.x} ${from.y}C${from.x} ${from.y - bend} ${to.x} ${to.y + bend} ${to.x} ${to.y}`;
}

function around(boxes: Box[]): Drawing["view"] {
  if (boxes.length === 0) return { x: 0, y: 0, width: 1, height: 1 };
  const x = Math.min(...boxes.map((box) => box.x)) - MARGIN;
  const y = Math.min(...boxes.map((box) => box.y)) - MARGIN;
  return {
    x,
    y,
    width: Math.max(...boxes.map((box) => box.x)) + WIDTH + MARGIN - x,
    height: Math.max(...boxes.map((box) => box.y)) + HEIGHT + MARGIN - y,
  };
}
