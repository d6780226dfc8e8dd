import type { Part } from "./answer";

/** What an answer rests on: the passages that its tools brought, numbered in the order they came. */
export interface Citation {
  number: number;
  /** A note's id, or where the passage lies; the same passage from two calls is one source. */
  key: string;
  title: string;
  snippet: string;
  noteId: string | null;
  /** Only http(s): anything else is shown as text. */
  link: string | null;
  source: string | null;
  date: string | null;
  tool: string;
}

type Fields = Record<string, unknown>;

const LISTS = ["hits", "citations", "results", "sources", "documents"] as const;

export function citationsOf(parts: readonly Part[]): Citation[] {
  const found = new Map<string, Citation>();
  for (const part of parts) {
    if (part.type !== "tool" || !part.result || part.result.isError) continue;
    for (const item of items(part.result.content)) {
      const citation = cite(item, part.name, found.size + 1);
      if (citation && !found.has(citation.key)) found.set(citation.key, citation);
    }
  }
  return [...found.values()];
}

function items(content: string): Fields[] {
  if (!/^\s*[[{]/.test(content)) return [];
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    return [];
  }
  if (Array.isArray(value)) return value.filter(isFields);
  if (!isFields(value)) return [];
  for (const name of LISTS) {
    const list = value[name];
    if (Array.isArray(list)) return list.filter(isFields);
  }
  return typeof value.id === "string" && typeof value.content === "string" ? [value] : [];
}

function cite(item: Fields, tool: string, number: number): Citation | null {
  const snippet = text(item, "content", "snippet", "text", "excerpt");
  if (!snippet) return null;
  const id = text(item, "id");
  const noteId = id && /^k-[0-9a-f]+$/.test(id) ? id : null;
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
