/** The API of the inbox and of confirmations. */
import { useQuery } from "@tanstack/react-query";
import { api } from "../../../api";
import { changed, type Draft, type Note, one, ROOT, type Saved } from "../notes";

export interface Proposal {
  note: Note;
  similar: { id: string; title: string; score: number }[];
}

const INBOX = `${ROOT}/inbox`;
const REFETCH_MS = 60_000;

const proposal = (id: string) => `${INBOX}/${encodeURIComponent(id)}`;

export function useInbox() {
  return useQuery({
    queryKey: ["knowledge", "inbox", "list"],
    refetchInterval: REFETCH_MS,
    queryFn: ({ signal }) => api.get<{ proposals: Proposal[]; total: number }>(INBOX, { signal }),
  });
}

export function useInboxCount(): number {
  const { data } = useQuery({
    queryKey: ["knowledge", "inbox", "count"],
    refetchInterval: REFETCH_MS,
    queryFn: ({ signal }) => api.get<{ total: number }>(`${INBOX}/count`, { signal }),
  });
  return data?.total ?? 0;
}

type Edited = Pick<Draft, "title" | "content" | "tags" | "questions" | "errors" | "secrets">;

/** Decisions take the notes as the user sees them: the server refuses if they have changed since. */
export const inbox = {
  accept: ({ id, updated_at }: Note, edited: Partial<Edited> = {}) =>
    changed(api.post<Note>(`${proposal(id)}/accept`, { ...edited, updated_at })),
  merge: ({ id, updated_at }: Note, into: Note, content: string) =>
    changed(
      api.post<Saved>(`${proposal(id)}/merge`, {
        into: into.id,
        content,
        updated_at,
        into_updated_at: into.updated_at,
      }),
    ),
  reject: ({ id, updated_at }: Note) => changed(api.post<Note>(`${proposal(id)}/reject`, { updated_at })),
  undo: (id: string) => changed(api.post<Note>(`${proposal(id)}/undo`)),
  confirm: ({ id, updated_at }: Note) =>
    changed(api.put<Note>(`${one(id)}/confirmation`, undefined, { query: { updated_at } })),
  withdraw: ({ id, updated_at }: Note) =>
    changed(api.delete<Note>(`${one(id)}/confirmation`, { query: { updated_at } })),
};
