import type { Part } from "./answer";
import { MARKER } from "./remark-citations";

/** The sources of an answer: the passages its tools returned, numbered in order of arrival. */
export interface Citation {
  number: number;
  /** A note's id, or the location and the passage; the same passage from two calls is one source. */
  key: string;
  title: string;
  snippet: string;
  noteId: string | null;
  /** Only http(s); anything else is shown as text. */
  link: string | null;
  source: string | null;
  date: string | null;
  tool: string;
  /** The sentences it supports, word for word, where the tool reports them. */
  supports: string[];
}

type Fields = Record<string, unknown>;

const NOTE_ID = /^k-[0-9a-f]+$/;
/** Imported notes and samples have ids of their own. */
const NOTE_TOOL = /(?:^|_)(?:search|get|list|save|update)_knowledge$/;

const LISTS = ["hits", "citations", "results", "sources", "documents"] as const;

export function citationsOf(parts: readonly Part[]): Citation[] {
  const found = new Map<string, Citation>();
  for (const part of parts) {
    if (part.type !== "tool" || !part.result || part.result.isError) continue;
    const { list, answer } = items(part.result.content);
    for (const item of list) {
      const citation = cite(item, part.name, found.size + 1, supported(item, answer));
      if (citation && !found.has(citation.key)) found.set(citation.key, citation);
    }
  }
  return [...found.values()];
}

/** A number that is the text of a link, or names one, is none of ours. */
const LINK = /\[\d{1,3}\](?:\([^)\s]{0,2000}\)|: {0,9}https?:)/g;

/** The sources that the text refers to, by number or by a note's id. */
export function citedIn(text: string, citations: readonly Citation[]): Citation[] {
  const marked = markSupported(text.replace(LINK, ""), citations);
  const numbers = [...marked.matchAll(MARKER)].flatMap(([, listed, single]) =>
    (listed ?? single ?? "").split(/[,、]/).map(Number),
  );
  return citations.filter(
    ({ number, noteId }) => numbers.includes(number) || (noteId && text.includes(`\`${noteId}\``)),
  );
}

/** The ids of the notes among them. */
export function citedNotes(text: string, citations: readonly Citation[]): string[] {
  return citedIn(text, citations).flatMap(({ noteId }) => noteId ?? []);
}

interface Items {
  list: Fields[];
  /** The tool's own answer, which the spans of its citations refer to. */
  answer: string | null;
}

function items(content: string): Items {
  const value = parse(content);
  if (Array.isArray(value)) return { list: value.filter(isFields), answer: null };
  if (!isFields(value)) return { list: [], answer: null };
  const answer = typeof value.answer === "string" ? value.answer : null;
  for (const name of LISTS) {
    const list = value[name];
    if (Array.isArray(list)) return { list: list.filter(isFields), answer };
  }
  const note = typeof value.id === "string" && typeof value.content === "string";
  return { list: note ? [value] : [], answer };
}

function parse(content: string): unknown {
  if (!/^\s*[[{]/.test(content)) return null;
  try {
    return JSON.parse(content);
  } catch {
    return null;
  }
}

/** `spans` count code points, as Python does. */
function supported(item: Fields, answer: string | null): string[] {
  if (!answer || !Array.isArray(item.spans)) return [];
  const characters = Array.from(answer);
  return item.spans.filter(isFields).flatMap(({ start, end }) => {
    if (typeof start !== "number" || typeof end !== "number") return [];
    const text = characters.slice(start, end).join("").trim();
    return text ? [text] : [];
  });
}

/** Adds the source's number after each supported sentence that the answer repeats word for word. */
export function markSupported(text: string, citations: readonly Citation[]): string {
  const markers = new Map<number, number[]>();
  for (const { number, supports } of citations) {
    for (const sentence of supports) {
      const at = text.indexOf(sentence);
      if (at < 0) continue;
      const end = at + sentence.length;
      const there = markers.get(end) ?? [];
      if (!there.includes(number)) markers.set(end, [...there, number]);
    }
  }
  return [...markers.keys()]
    .sort((a, b) => b - a)
    .reduce(
      (marked, end) => `${marked.slice(0, end)} [${markers.get(end)?.join(", ")}]${marked.slice(end)}`,
      text,
    );
}

function cite(item: Fields, tool: string, number: number, supports: string[]): Citation | null {
  const snippet = text(item, "content", "snippet", "text", "excerpt");
  if (!snippet) return null;
  const id = text(item, "id");
  const noteId = id && (NOTE_ID.test(id) || NOTE_TOOL.test(tool)) ? id : null;
  const where = text(item, "uri", "url", "link") ?? text(item, "source");
  const title = text(item, "title", "name") ?? fileName(where) ?? firstLine(snippet);
  return {
    number,
    key: noteId ?? `${where ?? id ?? title} ${snippet}`,
    title,
    snippet,
    noteId,
    link: where && /^https?:\/\//i.test(where) ? where : null,
    source: where ?? null,
    date: text(item, "updated_at", "created_at", "date") ?? null,
    tool,
    supports,
  };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(item: Fields, ...names: string[]): string | undefined {
  for (const name of names) {
    const value = item[name];
    if (typeof value === "string" && value.trim()) return value;
  }
  return undefined;
}

function fileName(where: string | undefined): string | undefined {
  const name = where?.split(/[?#]/)[0]?.split("/").filter(Boolean).at(-1);
  if (!name) return undefined;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function firstLine(snippet: string): string {
  const line = snippet.trim().split("\n")[0] ?? "";
  return line.length > 80 ? `${line.slice(0, 80)}…` : line;
}
