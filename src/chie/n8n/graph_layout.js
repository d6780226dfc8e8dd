// @ts-check
import { arrangeInColumns } from "./graph_columns.js";

/**
 * The layout of a workflow graph, shared by the page (web/src/pages/workflows) and the MCP view (graph_view.js).
 * Nodes keep their positions from n8n's editor. Without positions, or where boxes would overlap, they are arranged in
 * columns from left to right.
 *
 * @typedef {import("./graph_columns.js").Link} LayoutLink
 * @typedef {{ name: string, x?: number, y?: number }} LayoutNode
 * @typedef {{ x: number, y: number }} Position
 * @typedef {{ x: number, y: number, width: number, height: number }} Rectangle
 * @typedef {{ path: string, label: (Position & { text: string }) | null, bottom: number }} Route
 */

export const NODE_WIDTH = 164;
export const NODE_HEIGHT = 52;

const COLUMN_WIDTH = NODE_WIDTH + 64;
const ROW_HEIGHT = NODE_HEIGHT + 34;
const MARGIN = 24;
const LOOP_GAP = 16;
const MIN_BEND = 28;

/**
 * @template {LayoutNode} N
 * @template {LayoutLink} L
 * @param {readonly N[]} nodes
 * @param {readonly L[]} links links to unknown nodes are left out
 * @returns {{ boxes: (N & Position)[], lines: (L & Route)[], view: Rectangle }}
 */
export function layoutGraph(nodes, links) {
  const names = new Set(nodes.map(({ name }) => name));
  const known = links.filter(({ source, target }) => names.has(source) && names.has(target));
  const positions = editorPositions(nodes) ?? columnPositions(nodes, known);
  const boxes = nodes.map((node) => ({ ...node, ...positionOf(node.name, positions) }));
  const lines = known.map((link) => ({ ...link, ...route(link, positions, known) }));
  return { boxes, lines, view: boundingBox(boxes, lines) };
}

/**
 * @param {string} name
 * @param {ReadonlyMap<string, Position>} positions
 */
function positionOf(name, positions) {
  return positions.get(name) ?? { x: 0, y: 0 };
}

/**
 * Null where a node has no position or two boxes overlap.
 * @param {readonly LayoutNode[]} nodes
 * @returns {Map<string, Position> | null}
 */
function editorPositions(nodes) {
  /** @type {Map<string, Position>} */
  const positions = new Map();
  for (const { name, x, y } of nodes) {
    if (x === undefined || y === undefined) return null;
    for (const other of positions.values())
      if (Math.abs(x - other.x) < NODE_WIDTH && Math.abs(y - other.y) < NODE_HEIGHT) return null;
    positions.set(name, { x, y });
  }
  return positions;
}

/**
 * @param {readonly LayoutNode[]} nodes
 * @param {readonly LayoutLink[]} links
 */
function columnPositions(nodes, links) {
  const cells = arrangeInColumns(nodes, links);
  return new Map(
    [...cells].map(([name, { column, row }]) => [name, { x: column * COLUMN_WIDTH, y: row * ROW_HEIGHT }]),
  );
}

/**
 * @param {LayoutLink} link
 * @param {ReadonlyMap<string, Position>} positions
 * @param {readonly LayoutLink[]} links
 * @returns {Route}
 */
function route(link, positions, links) {
  const source = positionOf(link.source, positions);
  const target = positionOf(link.target, positions);
  if (link.kind !== "main") return subNodeRoute(link.kind, source, target);
  const outputs = ports(links, "source", link.source, "output");
  const from = { x: source.x + NODE_WIDTH, y: portY(source, link.output, outputs) };
  const to = { x: target.x, y: portY(target, link.input, ports(links, "target", link.target, "input")) };
  const label = outputs > 1 ? { x: from.x + 6, y: from.y - 4, text: String(link.output) } : null;
  if (target.x + NODE_WIDTH > source.x && link.source !== link.target) return { path: curve(from, to), label, bottom: -Infinity };
  const bottom = LOOP_GAP + lowestBetween(target.x, from.x, positions);
  return { path: loop(from, to, bottom), label, bottom };
}

/**
 * The number of main ports of a node, as far as they are connected.
 * @param {readonly LayoutLink[]} links
 * @param {"source" | "target"} end
 * @param {string} name
 * @param {"output" | "input"} port
 */
function ports(links, end, name, port) {
  return 1 + Math.max(...links.filter((link) => link.kind === "main" && link[end] === name).map((link) => link[port]));
}

/**
 * @param {Position} node
 * @param {number} port
 * @param {number} count
 */
function portY(node, port, count) {
  return node.y + (NODE_HEIGHT * (port + 1)) / (count + 1);
}

/**
 * @param {Position} from
 * @param {Position} to
 */
function curve(from, to) {
  const bend = Math.max(MIN_BEND, Math.abs(to.x - from.x) / 2);
  return `M${from.x} ${from.y}C${from.x + bend} ${from.y} ${to.x - bend} ${to.y} ${to.x} ${to.y}`;
}

/**
 * A link back to an earlier node runs below the nodes between them.
 * @param {Position} from
 * @param {Position} to
 * @param {number} bottom
 */
function loop(from, to, bottom) {
  const [right, left] = [from.x + MIN_BEND, to.x - MIN_BEND];
  return (
    `M${from.x} ${from.y}C${right} ${from.y} ${right} ${bottom} ${from.x - MIN_BEND} ${bottom}` +
    `L${to.x + MIN_BEND} ${bottom}C${left} ${bottom} ${left} ${to.y} ${to.x} ${to.y}`
  );
}

/**
 * @param {number} left
 * @param {number} right
 * @param {ReadonlyMap<string, Position>} positions
 */
function lowestBetween(left, right, positions) {
  const between = [...positions.values()].filter(({ x }) => x < right && x + NODE_WIDTH > left);
  return NODE_HEIGHT + Math.max(...between.map(({ y }) => y));
}

/**
 * From the sub-node's edge to the nearer edge of the node it belongs to.
 * @param {string} kind
 * @param {Position} source
 * @param {Position} target
 * @returns {Route}
 */
function subNodeRoute(kind, source, target) {
  const below = source.y > target.y;
  const from = { x: source.x + NODE_WIDTH / 2, y: below ? source.y : source.y + NODE_HEIGHT };
  const to = { x: target.x + NODE_WIDTH / 2, y: below ? target.y + NODE_HEIGHT : target.y };
  const bend = (Math.abs(from.y - to.y) / 2) * (below ? -1 : 1);
  const path = `M${from.x} ${from.y}C${from.x} ${from.y + bend} ${to.x} ${to.y - bend} ${to.x} ${to.y}`;
  return { path, label: { x: from.x + 6, y: from.y + (below ? -5 : 12), text: kind.replace(/^ai_/, "") }, bottom: -Infinity };
}

/**
 * @param {readonly Position[]} boxes
 * @param {readonly Route[]} lines
 * @returns {Rectangle}
 */
function boundingBox(boxes, lines) {
  if (boxes.length === 0) return { x: 0, y: 0, width: 1, height: 1 };
  const x = Math.min(...boxes.map((box) => box.x)) - MARGIN;
  const y = Math.min(...boxes.map((box) => box.y)) - MARGIN;
  const right = Math.max(...boxes.map((box) => box.x)) + NODE_WIDTH + MARGIN;
  const bottom = Math.max(...boxes.map((box) => box.y + NODE_HEIGHT), ...lines.map((line) => line.bottom)) + MARGIN;
  return { x, y, width: right - x, height: bottom - y };
}
