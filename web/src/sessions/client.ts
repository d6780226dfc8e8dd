import { type InfiniteData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { Observable } from "../../core/observable";
import { ApiError, api, apiUrl } from "../api";
import { useText } from "../i18n/language";
import { sessionsText } from "../i18n/strings/sessions";
import { go, hrefTo, parseRoute } from "../route";
import { useToast } from "../ui/toast";
import { undoQueue } from "../ui/undo-queue";
import { chats } from "./chats";
import type { Passage } from "./passage";

export interface Session {
  session_id: string;
  title: string;
  current_agent_id: string;
  created_at: string;
  updated_at: string;
  pinned_at: string | null;
  archived_at: string | null;
  /** Where the search has found its words; null where only the title has them. */
  passage?: Passage | null;
  project_id?: string | null;
}

interface SessionPage {
  sessions: Session[];
  next_cursor: string | null;
}

/** Without `archived`, archived ones are found by a search only. */
export function useSessions(
  query: string,
  {
    enabled = true,
    ...only
  }: {
    pinned?: boolean;
    archived?: boolean;
    project_id?: string;
    enabled?: boolean;
  } = {},
) {
  return useInfiniteQuery({
    queryKey: ["sessions", query, only],
    queryFn: ({ pageParam, signal }) =>
      api.get<SessionPage>("/api/sessions", {
        query: { query, ...only, limit: 100, cursor: pageParam },
        signal,
      }),
    enabled,
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => (state.error ? 2_000 : false),
  });
}

/** Sessions that are deleted on the page while the deletion can still be undone. */
class Removed extends Observable {
  #ids: ReadonlySet<string> = new Set();

  get ids(): ReadonlySet<string> {
    return this.#ids;
  }

  change(id: string, removed: boolean): void {
    const ids = new Set(this.#ids);
    if (removed) ids.add(id);
    else ids.delete(id);
    this.#ids = ids;
    this.notify();
  }
}

const removed = new Removed();

export function isRemoved(id: string): boolean {
  return removed.ids.has(id);
}

export function useRemoved(): ReadonlySet<string> {
  return useSyncExternalStore(removed.subscribe, () => removed.ids);
}

export function exportUrl(session: Session, format: "markdown" | "json"): string {
  return apiUrl(`/api/sessions/${encodeURIComponent(session.session_id)}/export`, { format });
}

export function useSessionActions() {
  const t = useText(sessionsText);
  const toast = useToast();
  const client = useQueryClient();

  const rename = async (session: Session, title: string) => {
    await api.patch(`/api/sessions/${encodeURIComponent(session.session_id)}`, { title });
    chats.rename(session.session_id, title);
    client.setQueriesData<InfiniteData<SessionPage>>({ queryKey: ["sessions"] }, (data) =>
      renamed(data, session, title),
    );
    await client.invalidateQueries({ queryKey: ["sessions"] });
  };

  const reallyRemove = async (session: Session) => {
    try {
      await api.delete(`/api/sessions/${encodeURIComponent(session.session_id)}`, { keepalive: true });
      chats.forget(session.session_id);
    } catch (error) {
      const gone = error instanceof ApiError && error.status === 404;
      if (!gone) {
        removed.change(session.session_id, false);
        toast(t.removeFailed(session.title || t.untitled));
      }
    }
    await client.invalidateQueries({ queryKey: ["sessions"] });
  };

  const remove = (session: Session) => {
    const id = session.session_id;
    removed.change(id, true);
    undoQueue.add(id, () => void reallyRemove(session));
    if (parseRoute(location.hash).rest[0] === id) go(hrefTo("chat"));
    toast(t.removed(session.title || t.untitled), {
      undo: () => {
        if (undoQueue.cancel(id)) removed.change(id, false);
      },
    });
  };

  /** Both happen at once; the toast takes an archiving back. */
  const change = async (session: Session, body: { pinned?: boolean; archived?: boolean }) => {
    try {
      await api.patch(`/api/sessions/${encodeURIComponent(session.session_id)}`, body);
    } catch {
      toast(t.changeFailed(session.title || t.untitled));
    }
    await client.invalidateQueries({ queryKey: ["sessions"] });
  };
  const pin = (session: Session, pinned: boolean) => void change(session, { pinned });
  const restore = (session: Session) => void change(session, { archived: false });
  const archive = (session: Session) => {
    void change(session, { archived: true });
    if (parseRoute(location.hash).rest[0] === session.session_id) go(hrefTo("chat"));
    toast(t.archived(session.title || t.untitled), { undo: () => restore(session) });
  };

  return { rename, remove, pin, archive, restore };
}

function renamed(data: InfiniteData<SessionPage> | undefined, session: Session, title: string) {
  if (!data) return data;
  const change = (one: Session) => (one.session_id === session.session_id ? { ...one, title } : one);
  return { ...data, pages: data.pages.map((page) => ({ ...page, sessions: page.sessions.map(change) })) };
}
