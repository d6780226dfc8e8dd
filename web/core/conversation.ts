import { type Answer, applyEvent, EMPTY_ANSWER, type Part, type Status, type ToolPart } from "./answer";
import type { Attachment } from "./attachment";
import type { ChatEvent, Usage } from "./events";
import type { Link } from "./follow";
import { type ModelChoice, OWN_MODEL } from "./model-choice";
import { messageIn, type WithOptionalText } from "./server-message";
import type { QueuedMessage } from "./transport";

/** Messages as `GET /api/sessions/{id}` returns them, and the tree they form. */
export interface StoredMessage extends WithOptionalText<"error"> {
  message_id: string;
  session_id: string;
  parent_id: string | null;
  role: "user" | "assistant";
  content: string;
  status: Status;
  created_at: string;
  agent_id: string | null;
  parts: ChatEvent[];
  input_tokens: number | null;
  output_tokens: number | null;
  usage?: Usage | null;
  last_event_id: number;
  model?: string | null;
  attachments?: Attachment[];
}

export interface Message {
  id: string;
  parentId: string | null;
  role: "user" | "assistant";
  /** The text of a question; an answer's text is in its parts. */
  text: string;
  agentId: string | null;
  /** The model that answered, once that is known. */
  model: string | null;
  createdAt: string;
  answer: Answer | null;
  /** The files of a question. */
  attachments: readonly Attachment[];
}

export function fromStored(stored: StoredMessage): Message {
  return {
    id: stored.message_id,
    parentId: stored.parent_id,
    role: stored.role,
    text: stored.content,
    agentId: stored.agent_id,
    model: stored.model ?? null,
    createdAt: stored.created_at,
    answer: stored.role === "assistant" ? answerFromStored(stored) : null,
    attachments: stored.attachments ?? [],
  };
}

function answerFromStored(stored: StoredMessage): Answer {
  const replayed = stored.parts.reduce(
    (answer, event, index) => applyEvent(answer, index + 1, event),
    EMPTY_ANSWER,
  );
  const parts: Part[] = stored.parts.length
    ? replayed.parts
    : stored.content
      ? [{ type: "text", text: stored.content }]
      : [];
  const counted = stored.input_tokens !== null && stored.output_tokens !== null;
  return {
    status: stored.status,
    parts,
    error: messageIn(stored, "error"),
    usage:
      stored.usage ??
      (counted ? { input_tokens: stored.input_tokens ?? 0, output_tokens: stored.output_tokens ?? 0 } : null),
    truncated: replayed.truncated,
    filtered: replayed.filtered,
    lastEventId: stored.last_event_id,
    questions: replayed.questions,
  };
}

/** The messages from the first one to `tip`. */
export function branch(messages: readonly Message[], tip: string | null): Message[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const path: Message[] = [];
  for (let at = tip; at !== null; ) {
    const message = byId.get(at);
    if (!message) break;
    path.push(message);
    at = message.parentId;
  }
  return path.reverse();
}

/** The versions of a message: those with the same parent and role, oldest first. */
export function siblings(messages: readonly Message[], of: Message): Message[] {
  return messages.filter((message) => message.parentId === of.parentId && message.role === of.role);
}

/** The last message of the newest branch through a message. */
export function newestTip(messages: readonly Message[], from: string): string {
  const descendants = new Set([from]);
  let tip = from;
  for (const message of messages) {
    if (message.parentId !== null && descendants.has(message.parentId)) {
      descendants.add(message.id);
      tip = message.id;
    }
  }
  return tip;
}

/** The stored message, or the known one where nothing has changed, so that it is not rendered again. */
export function merged(seen: Message | undefined, stored: Message): Message {
  if (!seen) return stored;
  if (!seen.answer || !stored.answer) return seen.text === stored.text ? seen : stored;
  const sameEvents = seen.answer.lastEventId === stored.answer.lastEventId;
  const same = sameEvents && seen.answer.status === stored.answer.status && seen.parentId === stored.parentId;
  if (same) return seen;
  return {
    ...stored,
    answer: { ...stored.answer, parts: sameEvents ? seen.answer.parts : stored.answer.parts },
  };
}

/** The key of a conversation that has no id yet. */
export const NEW = "new";

export interface Conversation {
  state: "new" | "loading" | "ready" | "failed";
  /** Why it could not be loaded. */
  failure: unknown;
  title: string;
  agentId: string | null;
  /** The model as the server has stored it, and as the user has chosen it since. */
  storedModel: ModelChoice;
  chosenModel: ModelChoice | null;
  /** Undefined until the conversation was loaded. */
  projectId?: string | null;
  messages: Message[];
  /** The last message of the branch on the screen. */
  tip: string | null;
  /** The answer that is streaming, and the state of its connection. */
  live: string | null;
  link: Link;
  /** Why the last question was not sent; the caller keeps its text. */
  unsent: { error: unknown } | null;
  /** Approvals and denials of tool calls, by `decisionKey`, until the result has arrived. */
  decided: Record<string, boolean>;
  /** Messages that wait for the end of an answer, in their order. */
  queue: readonly QueuedMessage[];
}

export const BLANK: Conversation = {
  state: "new",
  failure: null,
  title: "",
  agentId: null,
  storedModel: OWN_MODEL,
  chosenModel: null,
  messages: [],
  tip: null,
  live: null,
  link: "connected",
  unsent: null,
  decided: {},
  queue: [],
};

export function decisionKey(messageId: string, tool: ToolPart): string {
  return `${messageId} ${tool.key}`;
}

export function modelOf({ chosenModel, storedModel }: Conversation): ModelChoice {
  return chosenModel ?? storedModel;
}

/** Begins the ids of messages that the server does not know yet. */
export const LOCAL = "local-";

export function isLocal(message: Message): boolean {
  return message.id.startsWith(LOCAL);
}
