/** The API of shared conversations: its types, queries and mutations. */
import { useQuery } from "@tanstack/react-query";
import type { StoredMessage } from "../../../core/conversation";
import { api } from "../../api";
import { queryClient } from "../../query";
import { hrefTo } from "../../route";
import type { Session } from "../../sessions/client";

export interface Share {
  token: string;
  session_id: string;
  message_id: string;
  title: string;
  project_id: string | null;
  created_at: string;
}

export interface SharedConversation {
  token: string;
  title: string;
  user_id: string;
  own: boolean;
  created_at: string;
  messages: Omit<StoredMessage, "session_id">[];
}

export const sharedPath = (token: string, ...rest: string[]) =>
  ["/api/shared", ...[token, ...rest].map(encodeURIComponent)].join("/");

/** The address of the page that shows it. */
export function shareUrl(token: string): string {
  return new URL(hrefTo("shared", token), location.href).href;
}

export function useShares() {
  return useQuery({
    queryKey: ["shares"],
    queryFn: ({ signal }) => api.get<{ shares: Share[] }>("/api/shares", { signal }),
  });
}

export function useShared(token: string) {
  return useQuery({
    queryKey: ["shared", token],
    staleTime: 0, // it may have been revoked
    queryFn: ({ signal }) => api.get<SharedConversation>(sharedPath(token), { signal }),
  });
}

async function changed<T>(change: Promise<T>): Promise<T> {
  const result = await change;
  await Promise.all(
    [["shares"], ["shared"], ["projects"]].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
  );
  return result;
}

export const shares = {
  create: (session: string, message: string | null, withProject: boolean) =>
    changed(
      api.post<Share>(`/api/sessions/${encodeURIComponent(session)}/shares`, {
        message_id: message ?? undefined,
        with_project: withProject,
      }),
    ),
  revoke: (token: string) => changed(api.delete(`/api/shares/${encodeURIComponent(token)}`)),
  copy: async (token: string) => {
    const session = await api.post<Session>(sharedPath(token, "continue"));
    await queryClient.invalidateQueries({ queryKey: ["sessions"] });
    return session;
  },
};
