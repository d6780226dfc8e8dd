import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { Conversation } from "../../core/conversation";
import { useAfterStart } from "../after-start";
import { api } from "../api";
import { queryClient } from "../query";

interface Marks {
  running: string[];
  waiting: string[];
  unread: string[];
}

export type Mark = keyof Marks;

const KEY = ["marks"];
const BUSY_MS = 3_000;
const IDLE_MS = 15_000;

/** Asked often only while an answer runs somewhere, and not by a page in the background. */
const marksQuery = {
  queryKey: KEY,
  queryFn: async ({ signal }: { signal: AbortSignal }) => {
    const before = queryClient.getQueryData<Marks>(KEY);
    const marks = await api.get<Marks>("/api/sessions/marks", { signal });
    // An answer has begun or ended, perhaps on another device: the list has another order.
    if (before && active(before) !== active(marks))
      void queryClient.invalidateQueries({ queryKey: ["sessions"] });
    return marks;
  },
  refetchInterval: (query: { state: { data: Marks | undefined } }) =>
    query.state.data && active(query.state.data) ? BUSY_MS : IDLE_MS,
};

const active = ({ running, waiting }: Marks) => [...running, ...waiting].join();

/** The most urgent mark of a session. */
export function useMark(sessionId: string): Mark | undefined {
  const enabled = useAfterStart();
  const { data } = useQuery({ ...marksQuery, enabled, select: (marks) => markOf(marks, sessionId) });
  return data;
}

function markOf(marks: Marks, id: string): Mark | undefined {
  return (["waiting", "running", "unread"] as const).find((mark) => marks[mark].includes(id));
}

/** Tells the server that the answer on the screen has been seen, while the page is visible. */
export function useSeen(sessionId: string, { live, messages, state }: Conversation): void {
  const last = messages.findLast((message) => message.answer);
  const ended = state === "ready" && !live && last ? last.id : null;
  const unread = useMark(sessionId) === "unread";
  const watched = useRef<string | null>(null); // the session whose answer ran on this screen
  if (live) watched.current = sessionId;
  // biome-ignore lint/correctness/useExhaustiveDependencies: an answer begins or ends, or another one is opened
  useEffect(() => {
    void queryClient.invalidateQueries({ queryKey: KEY, exact: true });
  }, [live, sessionId]);
  useEffect(() => {
    if (!ended || (!unread && watched.current !== sessionId)) return;
    const see = () => {
      if (document.visibilityState !== "visible") return;
      watched.current = null;
      api
        .post(`/api/sessions/${encodeURIComponent(sessionId)}/seen`, { message_id: ended })
        .then(() => queryClient.invalidateQueries({ queryKey: KEY, exact: true }))
        .catch(() => undefined);
    };
    see();
    document.addEventListener("visibilitychange", see);
    return () => document.removeEventListener("visibilitychange", see);
  }, [sessionId, ended, unread]);
}
