import type { Attachment } from "../../../../core/attachment";
import { NEW } from "../../../../core/conversation";
import { MessageQueue } from "../../../../core/message-queue";
import { PendingSends } from "../../../../core/pending-sends";
import { type Agents, agentsQuery } from "../../../agents/agents";
import { ApiError, api } from "../../../api";
import { reconnected } from "../../../connectivity";
import { browserStorage, drafts } from "../../../drafts";
import { queryClient } from "../../../query";
import { go, hrefTo, parseRoute } from "../../../route";
import { chats } from "../../../sessions/chats";
import { unableWith } from "../attachments/upload-chips";
import { uploads } from "../attachments/uploads";
import { sideBySide } from "../side-by-side/side-by-side";

const path = (session: string, id: string) =>
  `/api/sessions/${encodeURIComponent(session)}/queue/${encodeURIComponent(id)}`;
const hasCode = (error: unknown, code: string) => error instanceof ApiError && error.reason.code === code;

/** Messages typed while an answer runs; the server sends them when it is complete. */
export const messageQueue = new MessageQueue(
  chats,
  {
    put: (session, id, body) => api.put(path(session, id), body),
    remove: (session, id) => api.delete(path(session, id)),
    isTransient: (error) => !(error instanceof ApiError) || error.offline || error.status >= 500,
    isSent: (error) => hasCode(error, "queue.already_sent"),
    isMissing: (error) => hasCode(error, "queue.not_found"),
    pause: reconnected,
  },
  browserStorage(),
  ({ session, text, attachments }, error) => {
    giveBack(session, text, attachments);
    if (error) chats.notSent(session, error);
  },
);
messageQueue.resume();

/** Messages whose files are still being uploaded. */
export const pendingSends = new PendingSends(uploads);

/** Sends a message, or queues it while an answer runs. Rejects if only the second agent could not be asked. */
export async function submit(
  session: string,
  agentId: string | null,
  text: string,
  files: readonly Attachment[],
): Promise<void> {
  if (chats.get(session).live) {
    messageQueue.add(session, text, agentId ?? undefined, files);
    return;
  }
  const started = await chats.ask(session, text, agentId ?? undefined, files);
  if (started === null) giveBack(session, text, files);
  else {
    if (session === NEW) moveTo(started);
    await askSecond(started, agentId);
  }
}

/** Where a second agent was chosen, it answers the question that has just been sent. */
async function askSecond(session: string, agentId: string | null): Promise<void> {
  const second = sideBySide.agentOf(session);
  const { messages, tip } = chats.get(session);
  const answer = messages.find((message) => message.id === tip);
  if (!second || second === agentId || !answer) return;
  sideBySide.show(answer.id, await chats.beside(session, answer, second));
}

/** Sends the typed message as soon as its files are uploaded, also if the reader is elsewhere by then. */
export function submitWhenUploaded(session: string, agentId: string | null): void {
  pendingSends.start(session, (key) => {
    const text = drafts.read(key);
    const files = uploads.of(key).flatMap((one) => one.attachment ?? []);
    const agents = queryClient.getQueryData<Agents>(agentsQuery.queryKey);
    if ((!text.trim() && !files.length) || unableWith(agents, uploads.of(key), agentId)) return;
    drafts.write(key, "");
    uploads.clear(key);
    void submit(key, agentId, text, files).catch(() => undefined); // the reader may be elsewhere
  });
}

export function giveBack(session: string, text: string, files: readonly Attachment[]): void {
  drafts.restore(session, text);
  uploads.restore(session, files);
}

/** Moves to the new conversation's own URL, with anything typed in the meantime. */
function moveTo(session: string): void {
  pendingSends.move(NEW, session);
  drafts.move(NEW, session);
  uploads.move(NEW, session);
  sideBySide.move(NEW, session);
  if (isHere(NEW)) go(hrefTo("chat", session), { replace: true });
}

function isHere(session: string): boolean {
  return (parseRoute(location.hash).rest[0] ?? NEW) === session;
}
