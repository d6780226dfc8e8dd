/**
 * Finds the formulas of a Markdown text before it is parsed: Markdown would drop the backslash of `\(`, and read `_` and
 * `*` in a formula as emphasis. Each is replaced by a mark that Markdown leaves alone; `remarkFormulas` puts it back.
 */
export interface Formula {
  tex: string;
  display: boolean;
  /** As it was written, with its delimiters. */
  source: string;
  /** Its end has not arrived, or is missing: only the source is shown. */
  open: boolean;
}

interface Marked {
  text: string;
  formulas: Formula[];
}

const START = "\uE000";
const END = "\uE001";
const MARK = /\uE000(\d+)\uE001/;

const FENCE = /^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,}|~{3,})/;
const BLANK_LINE = /\n[ \t>]*(?=\n)/g;
const LINE_PREFIX = /^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*$/;
const COMMAND = /\\[A-Za-z]/;
const JAPANESE = /[\u3040-\u30ff\u3400-\u9fff\uff01-\uff5e]/;
const WORDS = /[A-Za-z]{2,}[ ,.;:]+[A-Za-z]{2,}|^\d[\d.,]*\s+[A-Za-z]{2,}/;
const MAX_LENGTH = 5_000;
const MAX_PREFIX = 200;

// Of the text that is being read.
let next = { what: "", from: 0, at: -1 };
let paragraph = { from: 0, end: -1 };

export function markFormulas(text: string): Marked {
  if (!/[$\\]/.test(text) || text.includes(START)) return { text, formulas: [] };
  next = { what: "", from: 0, at: -1 };
  paragraph = { from: 0, end: -1 };
  const formulas: Formula[] = [];
  let marked = "";
  let at = 0;
  while (at < text.length) {
    const formula = formulaAt(text, at);
    if (formula) {
      marked += `${START}${formulas.length}${END}`;
      at += formula.source.length;
      formulas.push(quoted(formula, text, at - formula.source.length));
      continue;
    }
    const next = skipped(text, at);
    marked += text.slice(at, next);
    at = next;
  }
  return { text: marked, formulas };
}

/** The position after what cannot start a formula: code, an escaped character, or one other character. */
function skipped(text: string, at: number): number {
  if (at === 0 || text[at - 1] === "\n") {
    const fence = FENCE.exec(text.slice(at, lineEnd(text, at)))?.[1];
    if (fence) return afterFence(text, at, fence);
  }
  if (text[at] === "\\") return at + 2;
  if (text[at] !== "`") return at + 1;
  const ticks = /^`+/.exec(text.slice(at))?.[0] ?? "`";
  const inside = text.slice(at + ticks.length, paragraphEnd(text, at));
  const close = new RegExp(`(?<!\`)\`{${ticks.length}}(?!\`)`).exec(inside);
  return at + ticks.length + (close ? close.index + ticks.length : 0);
}

function afterFence(text: string, start: number, fence: string): number {
  let at = lineEnd(text, start);
  while (at < text.length) {
    const end = lineEnd(text, at + 1);
    const line = text.slice(at + 1, end).replace(/^[ \t>]+/, "");
    if (line.startsWith(fence) && line.trim().replaceAll(fence[0] as string, "") === "") return end;
    at = end;
  }
  return text.length;
}

function formulaAt(text: string, at: number): Formula | null {
  if (text[at] === "\\") {
    if (text[at + 1] === "(") return delimited(text, at, "\\(", "\\)", false);
    if (text[at + 1] === "[") return delimited(text, at, "\\[", "\\]", true);
    return null;
  }
  if (text[at] !== "$") return null;
  if (text[at + 1] === "$") return delimited(text, at, "$$", "$$", true);
  return dollars(text, at);
}

function delimited(text: string, at: number, open: string, close: string, display: boolean): Formula | null {
  const start = at + open.length;
  const limit = Math.min(paragraphEnd(text, at), start + MAX_LENGTH);
  const end = unescaped(text, close, start, limit);
  const tex = text.slice(start, end < 0 ? limit : end);
  const source = text.slice(at, end < 0 ? limit : end + close.length);
  if (end < 0 && open === "$$" && !startsLine(text, at)) return null;
  if (!tex.trim() || (open === "$$" && isProse(tex))) return null;
  if (open === "\\(" && !COMMAND.test(tex) && JAPANESE.test(tex)) return null;
  if (open === "\\[" && !isDisplayed(text, at, tex, at + source.length)) return null;
  return { tex: tex.trim(), display, source, open: end < 0 };
}

/** Brackets are also escaped to be brackets, as in `\[1\]`. */
function isDisplayed(text: string, at: number, tex: string, end: number): boolean {
  if (COMMAND.test(tex) || /\^|^\s/.test(tex)) return true;
  const alone = startsLine(text, at) && /^[ \t]*[.,。、]?[ \t]*(\n|$)/.test(text.slice(end));
  return alone && /[^\p{L}\p{N}\s.,:!?_-]/u.test(tex);
}

/** `$…$`, with the rules that keep prices and variables as they are. */
function dollars(text: string, at: number): Formula | null {
  if (/[A-Za-z0-9]/.test(text[at - 1] ?? "") || /\s/.test(text[at + 1] ?? " ")) return null;
  const end = unescaped(text, "$", at + 1, Math.min(paragraphEnd(text, at), at + MAX_LENGTH));
  if (end < 0 || /\s/.test(text[end - 1] ?? " ") || /[A-Za-z0-9$]/.test(text[end + 1] ?? "")) return null;
  const tex = text.slice(at + 1, end);
  return isProse(tex) ? null : { tex, display: false, source: text.slice(at, end + 1), open: false };
}

function isProse(tex: string): boolean {
  return !COMMAND.test(tex) && (WORDS.test(tex) || JAPANESE.test(tex));
}

/** Without the marks of a quotation at the start of its further lines. */
function quoted(formula: Formula, text: string, at: number): Formula {
  if (!formula.source.includes("\n")) return formula;
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  if (!/^[ \t]*>/.test(line)) return formula;
  return { ...formula, tex: formula.tex.replace(/\n[ \t]*(?:>[ \t]?)+/g, "\n") };
}

function unescaped(text: string, what: string, from: number, limit: number): number {
  if (nextOf(text, what, from) >= limit) return -1;
  for (let at = from; at < limit; at++) {
    if (text.startsWith(what, at) && at + what.length <= limit) return at;
    if (text[at] === "\\") at++;
  }
  return -1;
}

/** Where it is next, escaped or not: looked for once up to there. */
function nextOf(text: string, what: string, from: number): number {
  if (next.what !== what || from < next.from || from > next.at) {
    const at = text.indexOf(what, from);
    next = { what, from, at: at < 0 ? text.length : at };
  }
  return next.at;
}

function startsLine(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - MAX_PREFIX), at);
  const line = before.lastIndexOf("\n") + 1;
  return (line > 0 || before.length === at) && LINE_PREFIX.test(before.slice(line));
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** Asked for each dollar of a paragraph, and looked for once. */
function paragraphEnd(text: string, at: number): number {
  if (at < paragraph.from || at > paragraph.end) {
    BLANK_LINE.lastIndex = at;
    paragraph = { from: at, end: BLANK_LINE.exec(text)?.index ?? text.length };
  }
  return paragraph.end;
}

interface Node {
  type: string;
  value?: string;
  url?: string;
  alt?: string | null;
  title?: string | null;
  label?: string | null;
  data?: Record<string, unknown>;
  children?: Node[];
}

/** A remark plugin that puts formulas back: as elements in text, as their source elsewhere. */
export function remarkFormulas({ formulas }: { formulas: readonly Formula[] }) {
  return (tree: Node) => {
    if (formulas.length) visit(tree, formulas);
  };
}

function visit(node: Node, formulas: readonly Formula[]): void {
  if (!node.children) return;
  const children = node.children.flatMap((child) => {
    if (child.type === "text") return split(child.value ?? "", formulas);
    for (const field of ["value", "url", "alt", "title", "label"] as const) {
      const text = child[field];
      if (typeof text === "string") child[field] = withSources(text, formulas);
    }
    visit(child, formulas);
    return [child];
  });
  node.children = children.filter(
    (child, index) =>
      child.type !== "break" || !(isDisplay(children[index - 1]) || isDisplay(children[index + 1])),
  );
}

function isDisplay(node: Node | undefined): boolean {
  return node?.type === "formula" && node.data?.display === true;
}

function split(value: string, formulas: readonly Formula[]): Node[] {
  const pieces = value.split(MARK); // the numbers are at odd positions
  return pieces.flatMap((piece, index): Node[] => {
    if (index % 2 === 0) return piece ? [{ type: "text", value: piece }] : [];
    const formula = formulas[Number(piece)];
    return formula ? [element(formula)] : [];
  });
}

/** `var` is a mathematical expression in HTML; Markdown itself makes none. */
function element({ tex, display, source, open }: Formula): Node {
  const properties = { className: display ? "display" : "inline", title: open ? undefined : tex };
  return {
    type: "formula",
    data: { display, hName: "var", hProperties: properties },
    children: [{ type: "text", value: source }],
  };
}

function withSources(text: string, formulas: readonly Formula[]): string {
  return text.replace(new RegExp(MARK, "g"), (mark, number) => formulas[Number(number)]?.source ?? mark);
}
