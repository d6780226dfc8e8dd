import { useSyncExternalStore } from "react";
import { Chats } from "../../core/chats";
import type { Conversation } from "../../core/conversation";
import type { StoredConversation } from "../../core/transport";
import { knownAgent } from "../agents/agents";
import { allowedTools } from "../agents/allowed-tools";
import { modelMemory } from "../agents/model-memory";
import { ApiError, api, send } from "../api";
import { queryClient } from "../query";
import { parseRoute } from "../route";

/** The projects of conversations that were started here, until they are loaded from the server. */
export const startedIn = new Map<string, string>();

/** The project of a new conversation is in the URL: `#/chat?project=<id>`. */
async function askInProject(body: { session_id?: string }): Promise<Response> {
  const project = body.session_id ? null : parseRoute(location.hash).query.get("project");
  if (!project) return send("POST", "/api/chat/stream", { body });
  const response = await send("POST", "/api/chat/stream", { body: { ...body, project_id: project } });
  startedIn.set(response.headers.get("x-chie-session") ?? "", project);
  return response;
}

const message = (id: string, ...rest: string[]) => ["/api/chat", encodeURIComponent(id), ...rest].join("/");

/** The page's store of conversations; answers keep streaming while another page is shown. */
export const chats = new Chats(
  {
    load: (id) => api.get<StoredConversation>(`/api/sessions/${encodeURIComponent(id)}`),
    ask: askInProject,
    edit: (id, text, agentId, attachments, choice) =>
      send("POST", message(id, "edit"), {
        body: { message: text, agent_id: agentId, attachments, ...choice },
      }),
    regenerate: (id, agentId, choice, beside) =>
      send("POST", message(id, "regenerate"), { body: { agent_id: agentId, beside, ...choice } }),
    follow: (id, after, signal) =>
      send("GET", `/api/chat/stream/${encodeURIComponent(id)}`, { query: { after }, signal }),
    stop: (id) => api.post(message(id, "stop")),
    approve: (id, call, approved) => api.post(message(id, "approve"), { id: call, approved }),
    answer: (id, question, reply) => api.post(message(id, "answer"), { id: question, ...reply }),
    sendQueued: (session, id, stop) =>
      api.post(`/api/sessions/${encodeURIComponent(session)}/queue/${encodeURIComponent(id)}/send`, { stop }),
    isTransient: (error) => !(error instanceof ApiError) || error.offline || error.status >= 500,
  },
  {
    isAllowed: (tool) => allowedTools.has(tool.name, tool.definition),
    choosesModel: (agentId) => Boolean(knownAgent(agentId)?.model_parameters),
    rememberedModel: () => modelMemory.last,
    onChange: (sessionId) => {
      if (hasFailed(sessionId)) void queryClient.invalidateQueries({ predicate: showsState });
      void queryClient.invalidateQueries({ queryKey: ["sessions"] });
      void followTitle(sessionId);
    },
  },
);

/** A server that has just failed may be gone, so the dots are checked at once. */
function hasFailed(sessionId: string): boolean {
  const { live, messages } = chats.get(sessionId);
  return !live && messages.at(-1)?.answer?.status === "failed";
}

function showsState({ queryKey }: { queryKey: readonly unknown[] }): boolean {
  return queryKey[0] === "agents" || queryKey[0] === "models";
}

/** Seconds after an answer at which the title that its model writes may be there. */
const TITLE_SECONDS = [1, 2, 4, 8, 15];

/** Shows the title that a model gives a conversation after its first answer. */
async function followTitle(sessionId: string): Promise<void> {
  const { messages, live, title } = chats.get(sessionId);
  const questions = messages.filter(({ role }) => role === "user");
  if (live || questions.length !== 1 || messages.at(-1)?.answer?.status !== "complete") return;
  for (const seconds of TITLE_SECONDS) {
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    if (chats.get(sessionId).title !== title) return; // renamed here
    const found = await titleOf(sessionId).catch(() => undefined);
    if (!found || found === title) continue;
    chats.rename(sessionId, found);
    await queryClient.invalidateQueries({ queryKey: ["sessions"] });
    return;
  }
}

async function titleOf(sessionId: string): Promise<string | undefined> {
  const query = { limit: 20, query: "", cursor: "" };
  const page = await api.get<{ sessions: { session_id: string; title: string }[] }>("/api/sessions", {
    query,
  });
  return page.sessions.find((session) => session.session_id === sessionId)?.title;
}

export function useConversation(key: string): Conversation {
  return useSyncExternalStore(chats.subscribe, () => chats.get(key));
}
