/** The knowledge API: its types, queries and mutations. */
import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { WithOptionalText, WithTexts } from "../../../core/server-message";
import { api } from "../../api";
import { queryClient } from "../../query";
import type { Ranges } from "../../ui/highlighted";

export interface Heading {
  id: string;
  title: string;
  tags: string[];
  source: string | null;
  user_id: string;
  space: string;
  private: boolean;
  /** Waits in the inbox. */
  proposal: boolean;
  created_at: string;
  updated_at: string;
  length: number;
}

/** A line that seems to address a model instead of a reader. */
export interface Flag {
  kind: "instruction" | "hidden_characters" | "tool_call" | "forged_turn" | "exfiltration";
  line: number;
}

/** The code that a note is about; without `lines`, a whole file. */
export interface Anchor {
  repository: string;
  path: string;
  lines?: string | null;
  commit?: string | null;
}

/** What has become of that code in a later commit. `path` and `lines` are where it is there. */
export interface AnchorReport {
  state: "fresh" | "changed" | "gone" | "unknown";
  detail:
    | "same"
    | "moved"
    | "edited"
    | "whitespace"
    | "deleted"
    | "file_deleted"
    | "duplicated"
    | "commit_unknown"
    | "not_in_commit"
    | "unsure";
  changed: number | null;
  path: string | null;
  lines: string | null;
  commit: string;
  reported_by: string;
  reported_at: string;
}

/** Both are absent if there is none. */
interface Anchored {
  anchor?: Anchor;
  anchor_report?: AnchorReport;
}

export interface Note extends Omit<Heading, "length">, Anchored {
  content: string;
  /** Absent if there are none. */
  flags?: Flag[];
  status: string | null;
  origin: "person" | "assistant" | "import" | "hook";
  /** Questions that it answers. */
  questions: string[];
  /** Errors that it explains, without what changes from one time to the next. */
  signatures: string[];
  confirmed_by: string | null;
  confirmed_at: string | null;
  /** Ids of the notes that it replaces. */
  supersedes: string[];
  /** The notes that it replaces and those that replace it; absent if there are none. */
  replaces?: NoteLink[];
  superseded_by?: NoteLink[];
  /** How often it was used; absent if never. */
  uses?: Uses;
  /** What the reader says about it. */
  mark?: Mark | null;
}

export interface NoteLink {
  id: string;
  title: string;
}

export type Mark = "helpful" | "wrong";
export type Uses = Partial<Record<"shown" | "opened" | "cited" | "recalled" | "followed" | Mark, number>>;

export interface Hit extends Omit<Heading, "length">, Anchored {
  content: string;
  score: number;
  /** Whether the hit stands out from what unrelated notes reach by chance. */
  confident: boolean;
  /** The note's question that matched, if one did. */
  question: string | null;
  confirmed_by: string | null;
  partial: boolean;
  flags?: Flag[];
  superseded_by?: NoteLink[];
}

/** Half-open, counted in code points. */
export interface HighlightedHit {
  hit: Hit;
  highlights: { title: Ranges; content: Ranges };
}

export interface Saved extends WithOptionalText<"notice"> {
  id: string;
  title: string;
  updated_at: string;
  similar: { id: string; title: string; score: number }[];
}

export interface Point {
  id: string;
  title: string;
  tags: string[];
  x: number;
  y: number;
}

export interface Draft {
  title: string;
  tags: string[];
  content: string;
  /** The team's if absent. */
  space?: string;
  private: boolean;
  questions: string[];
  /** Lines of errors, or signatures. */
  errors: string[];
  /** What to do with secrets in the text; without it the server refuses them. */
  secrets?: "mask" | "allow";
}

interface SearchResult extends WithOptionalText<"notice"> {
  hits: HighlightedHit[];
}

export const SEARCH_LIMIT = 30;

export const ROOT = "api/knowledge";
export const one = (id: string) => `${ROOT}/${encodeURIComponent(id)}`;

interface Page {
  notes: Heading[];
  next_cursor: string | null;
}

export function useBrowse(tag: string | null, space: string | null) {
  return useInfiniteQuery({
    queryKey: ["knowledge", "browse", tag, space],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      api.get<Page>(ROOT, { query: { tag, space, cursor: pageParam, limit: 50 }, signal }),
    getNextPageParam: (page) => page.next_cursor,
    select: (data: InfiniteData<Page>) => data.pages.flatMap((page) => page.notes),
  });
}

/** Keeps the previous results while the next ones load. */
export function useSearch(q: string, tag: string | null, space: string | null) {
  return useQuery({
    queryKey: ["knowledge", "search", q, tag, space],
    enabled: q !== "",
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      api.get<SearchResult>(`${ROOT}/search`, {
        query: { q, tags: tag ? [tag] : [], space, limit: SEARCH_LIMIT },
        signal,
      }),
  });
}

export function useTags() {
  return useQuery({
    queryKey: ["knowledge", "tags"],
    queryFn: ({ signal }) =>
      api.get<{ tags: { tag: string; count: number }[]; total: number }>(`${ROOT}/tags`, { signal }),
  });
}

export function useAuthors(enabled: boolean) {
  return useQuery({
    queryKey: ["knowledge", "authors"],
    enabled,
    queryFn: ({ signal }) =>
      api.get<{ authors: { author: string; count: number }[] }>(`${ROOT}/authors`, { signal }),
  });
}

export function useNote(id: string) {
  return useQuery({
    queryKey: ["knowledge", "note", id],
    queryFn: ({ signal }) => api.get<Note>(one(id), { signal }),
  });
}

export function useSimilar(id: string) {
  return useQuery({
    queryKey: ["knowledge", "similar", id],
    queryFn: ({ signal }) => api.get<{ notes: Hit[] }>(`${one(id)}/similar`, { signal }),
  });
}

export interface NoteLinks {
  /** `target` is the title as the text has it, or the URI of the note. */
  links: { target: string; id: string; title: string }[];
  backlinks: { id: string; title: string }[];
}

export function useLinks(id: string) {
  return useQuery({
    queryKey: ["knowledge", "links", id],
    queryFn: ({ signal }) => api.get<NoteLinks>(`${one(id)}/links`, { signal }),
  });
}

export function useMap() {
  return useQuery({
    queryKey: ["knowledge", "map"],
    queryFn: ({ signal }) => api.get<{ points: Point[]; total: number }>(`${ROOT}/map`, { signal }),
  });
}

export interface Graph {
  notes: { id: string; title: string; tags: string[] }[];
  /** Positions in `notes`. */
  links: { source: number; target: number }[];
  /** All notes that have links. */
  total: number;
}

export function useGraph() {
  return useQuery({
    queryKey: ["knowledge", "graph"],
    queryFn: ({ signal }) => api.get<Graph>(`${ROOT}/graph`, { signal }),
  });
}

/** Refetches everything about notes after a change, and after one that fails: somebody else may have made one. */
export async function changed<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } finally {
    await queryClient.invalidateQueries({ queryKey: ["knowledge"] });
  }
}

export const notes = {
  create: (draft: Draft & { source?: string }) => changed(api.post<Saved>(ROOT, draft)),
  change: (id: string, draft: Partial<Draft>, seen: string) =>
    changed(api.patch<Saved>(one(id), { ...draft, updated_at: seen })),
  delete: ({ id, updated_at }: Note) =>
    changed(
      api.delete<Note>(one(id), { query: { updated_at } }).then((gone) => {
        queryClient.removeQueries({ queryKey: ["knowledge", "note", id] });
        return gone;
      }),
    ),
  /** The note was stored before, so that what it has was allowed. */
  restore: ({ flags: _, anchor_report: __, uses: ___, mark: ____, ...note }: Note) =>
    changed(api.put<Note>(one(note.id), note, { query: { secrets: "allow" } })),
  addSamples: () => changed(api.post<{ ids: string[] }>(`${ROOT}/samples`)),
};

export interface Imported extends WithTexts<"refused"> {
  saved: number;
  unchanged: number;
  newer: string[];
}

/** Text with kana is Japanese, which decides fonts and line breaks. */
export function languageOf(text: string): "ja" | undefined {
  return /[\u3040-\u30ff]/.test(text) ? "ja" : undefined;
}
