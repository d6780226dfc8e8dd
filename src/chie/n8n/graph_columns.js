// @ts-check
/**
 * Arranges a workflow graph in columns from left to right, with the sub-nodes of an agent (its model, memory and tools)
 * in a row below it.
 *
 * @typedef {{ name: string }} Node
 * @typedef {{ source: string, target: string, kind: string, output: number, input: number }} Link
 */

/**
 * @param {readonly Node[]} nodes
 * @param {readonly Link[]} links links between these nodes
 */
export function arrangeInColumns(nodes, links) {
  const grid = new Grid();
  const subNodes = subNodesByOwner(links);
  const isSubNode = new Set([...subNodes.values()].flat());
  placeMainNodes(grid, nodes.filter(({ name }) => !isSubNode.has(name)), links);
  for (const name of grid.cells.keys()) placeSubNodes(grid, name, subNodes);
  for (const { name } of nodes) if (!grid.cells.has(name)) grid.place(name, 0, grid.freeRow(0, 0, 1));
  return grid.cells;
}

/** The cells of the column layout. Rows may be fractional: a node between two branches is centred on them. */
class Grid {
  /** @type {Map<string, { column: number, row: number }>} */
  cells = new Map();

  /** @param {string} name */
  cell(name) {
    return this.cells.get(name) ?? { column: 0, row: 0 };
  }

  /**
   * @param {string} name
   * @param {number} column
   * @param {number} row
   */
  place(name, column, row) {
    this.cells.set(name, { column, row });
  }

  /**
   * The first row from `row` on that is free in `width` columns.
   * @param {number} column
   * @param {number} row
   * @param {number} width
   */
  freeRow(column, row, width) {
    const taken = [...this.cells.values()].filter((cell) => cell.column >= column && cell.column < column + width);
    let free = row;
    while (taken.some((cell) => Math.abs(cell.row - free) < 1)) free += 0.5;
    return free;
  }
}

/**
 * Places each node one column after its furthest predecessor, level with the average of its predecessors.
 * @param {Grid} grid
 * @param {readonly Node[]} nodes
 * @param {readonly Link[]} links
 */
function placeMainNodes(grid, nodes, links) {
  const { order, forward } = withoutCycles(nodes, links);
  const incoming = groupBy(forward, ({ target }) => target);
  const columns = longestPaths(order, incoming);
  const byColumn = groupBy(nodes, ({ name }) => columns.get(name) ?? 0);
  for (const [column, members] of [...byColumn].sort(([a], [b]) => a - b)) {
    const wanted = members.map(({ name }) => ({ name, ...wantedRow(incoming.get(name) ?? [], grid) }));
    wanted.sort((a, b) => a.row - b.row || a.output - b.output);
    for (const { name, row } of wanted) grid.place(name, column, grid.freeRow(column, row, 1));
  }
}

/**
 * @param {readonly string[]} order topological
 * @param {ReadonlyMap<string, Link[]>} incoming
 */
function longestPaths(order, incoming) {
  /** @type {Map<string, number>} */
  const lengths = new Map();
  for (const name of order) {
    const before = (incoming.get(name) ?? []).map(({ source }) => lengths.get(source) ?? 0);
    lengths.set(name, 1 + Math.max(-1, ...before));
  }
  return lengths;
}

/**
 * The row a node should have, and its first predecessor's output, which orders nodes that want the same row.
 * @param {readonly Link[]} incoming
 * @param {Grid} grid
 */
function wantedRow(incoming, grid) {
  const rows = incoming.map(({ source }) => grid.cell(source).row);
  const row = rows.reduce((sum, one) => sum + one, 0) / (rows.length || 1);
  return { row, output: incoming.length ? Math.min(...incoming.map(({ output }) => output)) : 0 };
}

/**
 * `Map.groupBy`, which Node 20 lacks.
 * @template T, K
 * @param {Iterable<T>} items
 * @param {(item: T) => K} keyOf
 */
function groupBy(items, keyOf) {
  /** @type {Map<K, T[]>} */
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/**
 * The nodes in topological order, and the main links that lead forward in it: one link of each cycle is left out.
 * @param {readonly Node[]} nodes
 * @param {readonly Link[]} links
 */
function withoutCycles(nodes, links) {
  const main = links.filter(({ kind }) => kind === "main");
  const outgoing = groupBy(main, ({ source }) => source);
  const targets = new Set(main.map(({ target }) => target));
  const [path, done, backward] = [new Set(), new Set(), new Set()];
  /** @type {string[]} */
  const order = [];
  /** @param {string} name */
  const visit = (name) => {
    if (done.has(name)) return;
    path.add(name);
    for (const link of outgoing.get(name) ?? []) path.has(link.target) ? backward.add(link) : visit(link.target);
    path.delete(name);
    done.add(name);
    order.unshift(name);
  };
  const starts = nodes.filter(({ name }) => !targets.has(name));
  for (const { name } of [...starts, ...nodes]) visit(name);
  return { order, forward: main.filter((link) => !backward.has(link)) };
}

/**
 * Nodes whose output goes into another node's model, memory or tool port, by that node.
 * @param {readonly Link[]} links
 */
function subNodesByOwner(links) {
  const inMainFlow = new Set(links.filter(({ kind }) => kind === "main").flatMap(({ source, target }) => [source, target]));
  /** @type {Map<string, string[]>} */
  const owned = new Map();
  const seen = new Set();
  for (const { source, target, kind } of links) {
    if (kind === "main" || inMainFlow.has(source) || source === target || seen.has(source)) continue;
    seen.add(source);
    owned.set(target, [...(owned.get(target) ?? []), source]);
  }
  return owned;
}

/**
 * @param {Grid} grid
 * @param {string} owner
 * @param {ReadonlyMap<string, string[]>} subNodes
 */
function placeSubNodes(grid, owner, subNodes) {
  const names = (subNodes.get(owner) ?? []).filter((name) => !grid.cells.has(name));
  const { column, row } = grid.cell(owner);
  const free = grid.freeRow(column, row + 1, names.length);
  for (const [index, name] of names.entries()) grid.place(name, column + index, free);
}
