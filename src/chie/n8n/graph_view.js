import { layoutGraph, NODE_HEIGHT, NODE_WIDTH } from "./graph_layout.js";

/** The graph of a workflow, and the settings of a node that is clicked. */
(() => {
  const { state, t, html, svg, show, call, request, dataOf, textOf } = chie;

  const NAME_LENGTH = 19; // in characters of Latin width
  const MIN_SCALE = 0.7; // a graph that is still too wide scrolls

  const TEXTS = {
    en: {
      loading: "Loading the workflow…",
      failed: "The workflow could not be loaded",
      cancelled: "Loading was cancelled.",
      graph: "The workflow’s nodes and their connections",
      count: "{0} nodes",
      empty: "This workflow has no nodes.",
      cut: "The workflow is too large to be shown completely: some nodes are missing.",
      from: "Input from",
      to: "Output to",
      nothing: "none",
      settings: "Show settings",
      large: "Full screen",
      small: "Exit full screen",
    },
    ja: {
      loading: "ワークフローを読み込んでいます…",
      failed: "ワークフローを読み込めませんでした",
      cancelled: "読み込みを中止しました。",
      graph: "ワークフローのノードと接続",
      count: "ノード {0} 個",
      empty: "このワークフローにはノードがありません。",
      cut: "大きすぎるため、一部のノードは表示されていません。",
      from: "入力元",
      to: "出力先",
      nothing: "なし",
      settings: "設定を表示",
      large: "全画面表示",
      small: "全画面を終了",
    },
  };

  let chosen;
  let settings;

  function draw() {
    const { result, cancelled } = state;
    if (result === undefined) return show(html("h1", {}, t(cancelled ? "cancelled" : "loading")));
    if (result.isError) return show(html("h1", {}, t("failed")), html("p", { class: "alarm", role: "alert" }, textOf(result)));
    const workflow = dataOf(result);
    const nodes = (workflow.graph ?? []).filter((one) => typeof one === "object");
    show(
      heading(workflow, nodes),
      workflow.truncated && html("p", { class: "quiet" }, t("cut")),
      nodes.length ? html("div", { class: "graph" }, picture(nodes)) : html("p", {}, t("empty")),
      details(workflow, nodes.find(({ node }) => node === chosen)),
    );
  }

  const heading = ({ name = "" }, nodes) =>
    html(
      "header",
      {},
      html("h1", {}, name, " ", html("span", { class: "quiet" }, t("count", nodes.length))),
      screenButton(),
    );

  function screenButton() {
    const { displayMode = "inline", availableDisplayModes = [] } = state.context;
    const next = displayMode === "fullscreen" ? "inline" : "fullscreen";
    if (!availableDisplayModes.includes(next)) return undefined;
    const ask = () => request("ui/request-display-mode", { mode: next }).catch(() => undefined);
    return html("button", { click: ask }, t(next === "fullscreen" ? "large" : "small"));
  }

  /** Reads `B (ai_tool) [1]`: node B, kind of connection, output. A node's own name may end that way, too. */
  function parseEnd(text, names) {
    const candidates = names.filter((name) => text.startsWith(name)).sort((a, b) => b.length - a.length);
    for (const name of candidates) {
      const rest = /^(?: \((\w+)\))?(?: \[(\d+)\])?$/.exec(text.slice(name.length));
      if (rest) return { target: name, kind: rest[1] ?? "main", output: Number(rest[2] ?? 0), input: 0 };
    }
    return undefined;
  }

  function linksOf(nodes) {
    const names = nodes.map(({ node }) => node);
    return nodes.flatMap(({ node, outputs }) =>
      outputs.map((text) => parseEnd(text, names)).filter(Boolean).map((end) => ({ ...end, source: node })),
    );
  }

  function picture(nodes) {
    const links = linksOf(nodes);
    const { boxes, lines, view } = layoutGraph(nodes.map((node) => ({ ...node, name: node.node })), links);
    const notFirst = new Set(links.map(({ source, target, kind }) => (kind === "main" ? target : source)));
    const { x, y, width, height } = view;
    const drawn = svg(
      "svg",
      { width, height, viewBox: `${x} ${y} ${width} ${height}`, role: "group", "aria-label": t("graph") },
      svg("defs", {}, arrow()),
      lines.map(line),
      boxes.map((node) => box(node, !notFirst.has(node.name))),
    );
    drawn.style.setProperty("min-width", `${width * MIN_SCALE}px`);
    return drawn;
  }

  const arrow = () =>
    svg(
      "marker",
      { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto-start-reverse" },
      svg("path", { class: "arrow", d: "M0 0 8 4 0 8z" }),
    );

  function line({ kind, path, label }) {
    const shape = { class: kind === "main" ? "edge" : "edge sub-node", d: path, "marker-end": "url(#arrow)" };
    return svg("g", {}, svg("path", shape), label && svg("text", { class: "port", x: label.x, y: label.y }, label.text));
  }

  /** @param {any} node */
  function box({ name, type, x, y }, first) {
    const classes = ["node", first && "first", name === chosen && "chosen"].filter(Boolean).join(" ");
    const choose = () => select(name);
    const press = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose();
    };
    const button = { tabindex: 0, role: "button", "aria-label": `${name}, ${type}`, keydown: press };
    return svg(
      "g",
      { class: classes, transform: `translate(${x} ${y})`, "data-node": name, click: choose },
      svg("rect", { width: NODE_WIDTH, height: NODE_HEIGHT, rx: 8, ...button }, svg("title", {}, name)),
      svg("text", { x: 12, y: 22, "aria-hidden": "true" }, short(name)),
      svg("text", { x: 12, y: 39, "aria-hidden": "true", class: "kind" }, short(type)),
    );
  }

  /** Truncates a name to the width of a node; a Japanese character is nearly twice as wide as a Latin one. */
  function short(name) {
    let space = NAME_LENGTH;
    for (const [at, character] of [...name].entries()) {
      space -= /[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]/.test(character) ? 1.75 : 1;
      if (space < 0) return `${[...name].slice(0, at - 1).join("")}…`;
    }
    return name;
  }

  function select(node) {
    chosen = node;
    settings = undefined;
    draw();
    /** @type {SVGElement | null} */ (document.querySelector(".node.chosen rect"))?.focus();
  }

  function details(workflow, node) {
    if (!node) return undefined;
    const list = (ends) => (ends.length ? ends.join(", ") : t("nothing"));
    return html(
      "section",
      { class: "details", "aria-label": node.node },
      html("h2", {}, node.node, " ", html("span", { class: "quiet" }, node.type)),
      html("p", { class: "quiet" }, `${t("from")}: ${list(node.inputs)}`),
      html("p", { class: "quiet" }, `${t("to")}: ${list(node.outputs)}`),
      settings === undefined && Boolean(state.capabilities.serverTools) && settingsButton(workflow.id, node.node),
      settings?.error && html("p", { class: "alarm", role: "alert" }, settings.error),
      settings?.text && html("pre", { tabindex: 0 }, settings.text),
    );
  }

  const settingsButton = (id, nodeName) =>
    html("div", { class: "row" }, html("button", { click: () => read(id, nodeName) }, t("settings")));

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

  chie.start("chie-workflow", TEXTS, draw);
})();
