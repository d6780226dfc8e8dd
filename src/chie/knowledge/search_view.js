/** The hits of `search_knowledge`, and the whole note where the host allows tool calls. */
(() => {
  const { state, t, date, html, show, call, request, dataOf, textOf } = chie;

  const TEXTS = {
    en: {
      searching: "Searching the team’s notes…",
      one: "1 note",
      found: "{0} notes",
      none: "No notes found.",
      perhaps: "Perhaps",
      failed: "Search failed",
      cancelled: "The search was cancelled.",
      score: "Score from 0 to 1: {0}",
      whole: "Show full note",
      loading: "Loading…",
      less: "Show less",
      open: "Open source",
      waiting: "Waiting",
      waitingHint: "A proposal: only you find it until somebody accepts it.",
      check: "Check",
      checkHint: "This note seems to address an AI assistant. It is information, not an instruction.",
    },
    ja: {
      searching: "チームのメモを検索しています…",
      one: "1 件のメモ",
      found: "{0} 件のメモ",
      none: "該当するメモはありません。",
      perhaps: "もしかすると",
      failed: "検索に失敗しました",
      cancelled: "検索を中止しました。",
      score: "スコア（0〜1）：{0}",
      whole: "メモ全体を表示",
      loading: "読み込み中…",
      less: "折りたたむ",
      open: "出典を開く",
      waiting: "承認待ち",
      waitingHint: "提案です。承認されるまでは、自分だけが検索できます。",
      check: "要確認",
      checkHint: "AI アシスタントに宛てたと思われる記述があります。メモは情報であり、指示ではありません。",
    },
  };

  const opened = new Map(); // note id to its full text, or the error

  function draw() {
    const { input, result, cancelled } = state;
    if (result === undefined) return show(heading(t(cancelled ? "cancelled" : "searching"), input));
    if (result.isError) return show(heading(t("failed"), input), html("p", { class: "alarm", role: "alert" }, textOf(result)));
    const { hits = [], notice } = dataOf(result);
    const count = t(["none", "one"][hits.length] ?? "found", hits.length);
    const [sure, unsure] = [true, false].map((wanted) => hits.filter(({ confident }) => (confident ?? true) === wanted));
    show(
      heading(count, input),
      notice && html("p", { class: "quiet" }, notice),
      html("ol", { class: "notes" }, sure.map(note)),
      unsure.length > 0 && html("h2", { class: "quiet" }, t("perhaps")),
      unsure.length > 0 && html("ol", { class: "notes" }, unsure.map(note)),
    );
  }

  const heading = (text, input) =>
    html("header", {}, html("h1", {}, text), input?.query && html("span", { class: "quiet" }, input.query));

  function note(hit) {
    const whole = opened.get(hit.id);
    return html(
      "li",
      { class: "note", "data-id": hit.id },
      html("div", { class: "row" }, html("h2", {}, hit.title), ...badges(hit)),
      html("div", { class: whole ? "text" : "text short" }, formatted(whole?.text ?? hit.content)),
      whole?.error && html("p", { class: "alarm", role: "alert" }, whole.error),
      html("div", { class: "row" }, ...facts(hit)),
      html("div", { class: "row actions" }, ...buttons(hit, whole)),
    );
  }

  const badges = ({ proposal, flags }) => [
    proposal && html("span", { class: "tag", title: t("waitingHint") }, t("waiting")),
    flags?.length > 0 && html("span", { class: "tag alarm", title: t("checkHint") }, `⚠ ${t("check")}`),
  ];

  function facts({ score, tags, created_at, user_id, source }) {
    const shown = Number(score).toFixed(2);
    return [
      html("meter", { min: 0, max: 1, value: score, "aria-label": t("score", shown), title: t("score", shown) }),
      html("span", { class: "quiet" }, shown),
      ...(tags ?? []).map((tag) => html("span", { class: "tag" }, tag)),
      html("time", { class: "quiet", datetime: created_at }, date(created_at)),
      user_id !== "anonymous" && html("span", { class: "quiet" }, user_id),
      source && html("span", { class: "quiet" }, source),
    ];
  }

  function buttons({ id, partial, source }, whole) {
    const { serverTools, openLinks } = state.capabilities;
    const open = () => request("ui/open-link", { url: source }).catch(() => undefined);
    return [
      whole?.text && html("button", { click: () => close(id) }, t("less")),
      partial && serverTools && !whole?.text && reader(id, whole),
      openLinks && /^https?:\/\//.test(source ?? "") && html("button", { click: open }, t("open")),
    ];
  }

  const reader = (id, whole) =>
    html("button", { click: () => read(id), disabled: whole?.loading }, t(whole?.loading ? "loading" : "whole"));

  async function read(id) {
    keep(id, { loading: true });
    try {
      keep(id, { text: (await call("get_knowledge", { id })).content });
    } catch (error) {
      keep(id, { error: error.message });
    }
  }

  function keep(id, what) {
    opened.set(id, what);
    draw();
  }

  function close(id) {
    opened.delete(id);
    draw();
  }

  /** Renders fenced and inline code; everything else is shown as it was written. */
  function formatted(text) {
    return text
      .split(/^```[^\n]*\n([\s\S]*?)^```[ \t]*\n?/m)
      .map((part, at) => (at % 2 ? html("pre", {}, part.replace(/\n$/, "")) : inline(part)))
      .flat();
  }

  const inline = (text) => text.split(/`([^`\n]+)`/).map((part, at) => (at % 2 ? html("code", {}, part) : part));

  chie.start("chie-search", TEXTS, draw);
})();
