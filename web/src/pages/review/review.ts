/** The API of the review. */
import { useQuery } from "@tanstack/react-query";
import { api } from "../../api";
import { changed, type Note, ROOT } from "../knowledge/notes";

export const KINDS = ["contradiction", "duplicate", "stale", "orphaned", "unanswered"] as const;
export type Kind = (typeof KINDS)[number];
export type Action = "keep" | "merge" | "supersede" | "archive" | "dismiss";

export interface Finding {
  id: string;
  kind: Kind;
  reason: { code: string; params: Record<string, string | number> };
  /** Of two notes, the older one comes first. */
  notes: Note[];
  may_change: boolean[];
}

export interface Findings {
  findings: Finding[];
  counts: Record<Kind, number>;
  /** Notes that are still to be compared. */
  pending: number;
  next_cursor: string | null;
}

const REVIEW = `${ROOT}/review`;
const REFETCH_MS = 60_000;
const PENDING_MS = 2_000;
const SHOWN = 50;

const isPending = (data?: Findings) => (data?.pending ?? 0) > 0;

/** Asks again at once while notes are still to be compared: every request compares some. */
export function useFindings(kind: Kind | null) {
  return useQuery<Findings>({
    queryKey: ["knowledge", "review", "list", kind],
    refetchInterval: (query) => (isPending(query.state.data) ? PENDING_MS : REFETCH_MS),
    queryFn: ({ signal }) =>
      api.get<Findings>(REVIEW, { signal, query: { limit: SHOWN, kind: kind ?? undefined } }),
  });
}

export function useFindingCount(): number {
  const { data } = useQuery({
    queryKey: ["knowledge", "review", "count"],
    refetchInterval: REFETCH_MS,
    retry: false,
    queryFn: ({ signal }) => api.get<{ total: number }>(`${REVIEW}/count`, { signal }),
  });
  return data?.total ?? 0;
}

export interface Choice {
  note?: string;
  content?: string;
  title?: string;
}

/** Whether the finding has two notes to do it with, and the viewer may. */
export function isPossible(finding: Finding, action: Action): boolean {
  const pair = finding.notes.length === 2;
  if (action === "dismiss") return true;
  if (action === "keep") return finding.notes.length > 0;
  if (action === "archive") return finding.may_change[0] === true;
  return pair && finding.may_change.every(Boolean);
}

export const review = {
  /** The server refuses if a note has changed since it was shown. */
  decide: ({ id, notes }: Finding, action: Action, choice: Choice = {}) => {
    const seen = Object.fromEntries(notes.map((note) => [note.id, note.updated_at]));
    return changed(api.post<{ id: string }>(`${REVIEW}/decisions`, { finding: id, action, seen, ...choice }));
  },
  undo: (decision: string) => changed(api.delete(`${REVIEW}/decisions/${encodeURIComponent(decision)}`)),
};

export interface Opinion {
  verdict: "same" | "contradiction" | "compatible";
  reason: string;
  merged: string;
}

/** The connected model reads both notes. Nothing is stored. */
export function askModel([older, newer]: Note[]): Promise<Opinion> {
  const text = (note?: Note) => ({ title: note?.title ?? "", content: note?.content ?? "" });
  return api.post<Opinion>("api/chat/compare-notes", { older: text(older), newer: text(newer) });
}
