/** A workflow as a picture: nodes from left to right in the order in which they run, and one node's settings on a click. */
(() => {
  const { state, say, html, svg, show, call, request, answered, textOf } = chie;

  const WIDTH = 176;
  const HEIGHT = 50;
  const ACROSS = 64;
  const DOWN = 26;
  const EDGE = 16;
  const LETTERS = 21; // of Latin width that fit into a node
  const SMALLEST = 0.7; // a wider graph is shrunk to this; from there on it scrolls

  const WORDS = {
    en: {
      reading: "Reading the workflow…",
      failed: "The workflow could not be read",
      cancelled: "Reading was stopped.",
      graph: "The workflow’s nodes and where each leads",
      count: "{0} nodes",
      empty: "This workflow has no nodes.",
      cut: "It is too large to be shown whole: some nodes are missing here.",
      from: "Input from",
      to: "Output to",
      nothing: "nothing",
      settings: "Show its settings",
      large: "Full screen",
      small: "Back to the conversation",
    },
    ja: {
      reading: "ワークフローを読み込んでいます…",
      failed: "ワークフローを読めませんでした",
      cancelled: "読み込みは中止されました。",
      graph: "ワークフローのノードとつながり",
      count: "{0} ノード",
      empty: "このワークフローにはノードがありません。",
      cut: "大きすぎるため、一部のノードは表示されていません。",
      from: "入力元",
      to: "出力先",
      nothing: "なし",
      settings: "設定を見る",
      large: "全画面",
      small: "会話に戻る",
    },
  };

  let chosen;
  let settings;

  function draw() {
    const { result, cancelled } = state;
    if (result === undefined) return show(html("h1", {}, say(cancelled ? "cancelled" : "reading")));
    if (result.isError) return show(html("h1", {}, say("failed")), html("p", { class: "alarm", role: "alert" }, textOf(result)));
    const workflow = answered(result);
    const nodes = (workflow.graph ?? []).filter((one) => typeof one === "object");
    show(
      heading(workflow, nodes),
      workflow.truncated && html("p", { class: "quiet" }, say("cut")),
      nodes.length ? html("div", { class: "graph" }, picture(nodes)) : html("p", {}, say("empty")),
      details(workflow, nodes.find(({ node }) => node === chosen)),
    );
  }

  const heading = ({ name = "" }, nodes) =>
    html(
      "header",
      {},
      html("h1", {}, name, " ", html("span", { class: "quiet" }, say("count", nodes.length))),
      screenButton(),
    );

  function screenButton() {
    const { displayMode = "inline", availableDisplayModes = [] } = state.context;
    const next = displayMode === "fullscreen" ? "inline" : "fullscreen";
    if (!availableDisplayModes.includes(next)) return undefined;
    const ask = () => request("ui/request-display-mode", { mode: next }).catch(() => undefined);
    return html("button", { click: ask }, say(next === "fullscreen" ? "large" : "small"));
  }

  /** `B (ai_tool) [1]` names the node B, a kind of connection and a port; a node's own name may end that way, too. */
  function end(text, names) {
    const name = names.filter((one) => text.startsWith(one)).sort((a, b) => b.length - a.length);
    for (const one of name) {
      const rest = /^(?: \((\w+)\))?(?: \[(\d+)\])?$/.exec(text.slice(one.length));
      if (rest) return { name: one, kind: rest[1] ?? "main", port: Number(rest[2] ?? 0) };
    }
    return undefined;
  }

  function edges(nodes) {
    const names = nodes.map(({ node }) => node);
    const leading = ({ node, outputs }) =>
      outputs.map((text) => end(text, names)).filter(Boolean).map((to) => ({ ...to, from: node, to: to.name }));
    return nodes.flatMap(leading);
  }

  /** A node's column is one past the furthest node before it. A way back to where it came from moves nothing. */
  function columns(nodes, links) {
    const next = Map.groupBy(links.filter(({ kind }) => kind === "main"), ({ from }) => from);
    const column = new Map(nodes.map(({ node }) => [node, 0]));
    const back = new Set();
    const left = new Set();
    const path = new Set();
    const order = [];
    const walk = (name) => {
      if (left.has(name)) return;
      path.add(name);
      for (const link of next.get(name) ?? []) path.has(link.to) ? back.add(link) : walk(link.to);
      path.delete(name);
      left.add(name);
      order.unshift(name);
    };
    const led = new Set(links.filter(({ kind }) => kind === "main").map(({ to }) => to));
    for (const { node } of nodes) if (!led.has(node)) walk(node);
    for (const { node } of nodes) walk(node);
    for (const name of order)
      for (const link of next.get(name) ?? [])
        if (!back.has(link)) column.set(link.to, Math.max(column.get(link.to), column.get(name) + 1));
    for (const { from, to, kind } of links) if (kind !== "main") column.set(from, column.get(to));
    return { column, back };
  }

  function placed(nodes, column) {
    const rows = new Map();
    const places = new Map();
    for (const { node } of nodes) {
      const row = rows.get(column.get(node)) ?? 0;
      rows.set(column.get(node), row + 1);
      places.set(node, { x: EDGE + column.get(node) * (WIDTH + ACROSS), y: EDGE + row * (HEIGHT + DOWN) });
    }
    return places;
  }

  function picture(nodes) {
    const links = edges(nodes);
    const { column, back } = columns(nodes, links);
    const places = placed(nodes, column);
    const width = Math.max(...[...places.values()].map(({ x }) => x)) + WIDTH + EDGE;
    const height = Math.max(...[...places.values()].map(({ y }) => y)) + HEIGHT + EDGE + (back.size ? DOWN : 0);
    const led = new Set(links.map(({ to }) => to));
    const drawn = svg(
      "svg",
      { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": say("graph") },
      svg("defs", {}, arrow()),
      links.map((link) => line(link, places, back.has(link), height)),
      nodes.map((node) => box(node, places.get(node.node), !led.has(node.node))),
    );
    drawn.style.setProperty("min-width", `${width * SMALLEST}px`);
    return drawn;
  }

  const arrow = () =>
    svg(
      "marker",
      { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto-start-reverse" },
      svg("path", { class: "arrow", d: "M0 0 8 4 0 8z" }),
    );

  function line({ from, to, kind, port }, places, backwards, height) {
    const [a, b] = [places.get(from), places.get(to)];
    const shape = { class: kind === "main" ? "edge" : "edge helper", d: way(a, b, kind, backwards, height), "marker-end": "url(#arrow)" };
    const label = kind === "main" ? port && String(port) : kind;
    const at = kind === "main" ? { x: b.x - 22, y: b.y + HEIGHT / 2 + (a.y < b.y ? 15 : -7) } : { x: a.x + WIDTH / 2 + 6, y: a.y - 5 };
    return svg("g", {}, svg("path", shape), Boolean(label) && svg("text", { class: "port", ...at }, label));
  }

  function way(a, b, kind, backwards, height) {
    if (kind !== "main") {
      const [x, up] = [a.x + WIDTH / 2, a.y > b.y];
      return `M${x} ${up ? a.y : a.y + HEIGHT} L${b.x + WIDTH / 2} ${up ? b.y + HEIGHT : b.y}`;
    }
    const [x1, y1, x2, y2] = [a.x + WIDTH, a.y + HEIGHT / 2, b.x, b.y + HEIGHT / 2];
    if (backwards) {
      const low = height - 6;
      return `M${x1} ${y1} C${x1 + 30} ${y1} ${x1 + 30} ${low} ${x1 - 20} ${low} L${x2 + 20} ${low} C${x2 - 30} ${low} ${x2 - 30} ${y2} ${x2} ${y2}`;
    }
    const bend = Math.max(24, (x2 - x1) / 2);
    return `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  }

  function box({ node, type }, { x, y }, first) {
    const names = ["node", first && "first", node === chosen && "chosen"].filter(Boolean).join(" ");
    const choose = () => select(node);
    const press = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose();
    };
    const button = { tabindex: 0, role: "button", "aria-label": `${node}, ${type}`, keydown: press };
    return svg(
      "g",
      { class: names, transform: `translate(${x} ${y})`, "data-node": node, click: choose },
      svg("rect", { width: WIDTH, height: HEIGHT, rx: 8, ...button }, svg("title", {}, node)),
      svg("text", { x: 12, y: 21, "aria-hidden": "true" }, short(node)),
      svg("text", { x: 12, y: 38, "aria-hidden": "true", class: "kind" }, short(type)),
    );
  }

  /** As much of a name as fits; a Japanese letter is as wide as two others. */
  function short(text) {
    let room = LETTERS;
    for (const [at, letter] of [...text].entries()) {
      room -= /[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]/.test(letter) ? 1.75 : 1;
      if (room < 0) return `${[...text].slice(0, at - 1).join("")}…`;
    }
    return text;
  }

  function select(node) {
    chosen = node;
    settings = undefined;
    draw();
    /** @type {SVGElement | null} */ (document.querySelector(".node.chosen rect"))?.focus();
  }

  function details(workflow, node) {
    if (!node) return undefined;
    const list = (ends) => (ends.length ? ends.join(", ") : say("nothing"));
    return html(
      "section",
      { class: "details", "aria-label": node.node },
      html("h2", {}, node.node, " ", html("span", { class: "quiet" }, node.type)),
      html("p", { class: "quiet" }, `${say("from")}: ${list(node.inputs)}`),
      html("p", { class: "quiet" }, `${say("to")}: ${list(node.outputs)}`),
      settings === undefined && Boolean(state.capabilities.serverTools) && settingsButton(workflow.id, node.node),
      settings?.error && html("p", { class: "alarm", role: "alert" }, settings.error),
      settings?.text && html("pre", { tabindex: 0 }, settings.text),
    );
  }

  const settingsButton = (id, nodeName) =>
    html("div", { class: "row" }, html("button", { click: () => read(id, nodeName) }, say("settings")));

  async function read(id, nodeName) {
    let found;
    try {
      const { node } = await call("get_workflow", { id, nodeName });
      found = { text: JSON.stringify(node.parameters ?? {}, undefined, 2) };
    } catch (error) {
      found = { error: error.message };
    }
    if (chosen !== nodeName) return;
    settings = found;
    draw();
  }

  chie.start("chie-workflow", WORDS, draw);
})();
