/** The API of earlier versions, of the trash and of supersession. */
import { useQuery } from "@tanstack/react-query";
import { api } from "../../../api";
import { changed, type Draft, type Note, one, ROOT, type Saved } from "../notes";

export interface Version {
  version: number;
  kind: "created" | "changed" | "moved" | "deleted" | "restored";
  by: string;
  at: string;
  title: string | null;
  /** The fields that differ from the version before. */
  changes: string[];
  current: boolean;
}

export interface Trashed {
  id: string;
  title: string;
  user_id: string;
  private: boolean;
  deleted_at: string;
  deleted_by: string;
  expires_at: string;
}

const TRASH = `${ROOT}/trash`;
const LIMIT = 100;

const trashed = (id: string) => `${TRASH}/${encodeURIComponent(id)}`;

export function useVersions(id: string) {
  return useQuery({
    queryKey: ["knowledge", "history", id],
    queryFn: ({ signal }) =>
      api.get<{ versions: Version[] }>(`${one(id)}/history`, { query: { limit: LIMIT }, signal }),
  });
}

export function useVersion(id: string, version: number | null) {
  return useQuery({
    queryKey: ["knowledge", "history", id, version],
    enabled: version !== null,
    queryFn: ({ signal }) => api.get<Note>(`${one(id)}/history/${version}`, { signal }),
  });
}

export function useTrash() {
  return useQuery({
    queryKey: ["knowledge", "trash"],
    queryFn: ({ signal }) => api.get<{ notes: Trashed[]; days: number }>(TRASH, { signal }),
  });
}

export const history = {
  restoreVersion: (id: string, version: number) =>
    changed(api.post<Saved>(`${one(id)}/history/${version}/restore`)),
  restore: (id: string) => changed(api.post<Note>(`${trashed(id)}/restore`)),
  purge: (id: string) => changed(api.delete<{ id: string }>(trashed(id))),
  /** A new note that supersedes another. */
  replace: (id: string, draft: Draft) => changed(api.post<Saved>(ROOT, { ...draft, supersedes: [id] })),
  /** Write the merged text into `note`, which then supersedes `other`. */
  merge: (note: Note, other: Note, content: string) =>
    changed(
      api.patch<Saved>(one(note.id), {
        content,
        tags: [...note.tags, ...other.tags],
        questions: [...note.questions, ...other.questions].slice(0, MAX_QUESTIONS),
        errors: [...note.signatures, ...other.signatures].slice(0, MAX_ERRORS),
        supersedes: [...note.supersedes, other.id],
        updated_at: note.updated_at,
      }),
    ),
};

const MAX_QUESTIONS = 10;
const MAX_ERRORS = 20;
