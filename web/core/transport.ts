import type { Status, ToolPart } from "./answer";
import type { Attachment } from "./attachment";
import type { StoredMessage } from "./conversation";
import type { ModelChoice } from "./model-choice";
import type { Params } from "./server-message";

/** The server's API and the page's hooks, as the conversation store needs them. */
export interface StoredConversation {
  session_id: string;
  title: string;
  current_agent_id: string;
  model?: string | null;
  parameters?: ModelChoice["parameters"];
  project_id?: string | null;
  messages: StoredMessage[];
  /** Absent in answers of an older server. */
  queue?: QueuedMessage[];
}

/** A message that waits for the answer `parent_id`, whose status it has. */
export interface QueuedMessage {
  message_id: string;
  parent_id: string;
  content: string;
  status: Status;
  agent_id: string | null;
  error_code: string | null;
  error_params: Params | null;
  attachments: Attachment[];
}

export interface QueueBody {
  message: string;
  agent_id?: string;
  parent_id?: string;
  attachments?: string[];
}

/** The user's answer to a question of a server. */
export interface Reply {
  action: "accept" | "decline" | "cancel";
  content?: Record<string, unknown>;
}

export interface Transport {
  load: (sessionId: string) => Promise<StoredConversation>;
  ask: (
    body: {
      message: string;
      session_id?: string;
      agent_id?: string;
      parent_id?: string;
      attachments?: string[];
    } & Partial<ModelChoice>,
  ) => Promise<Response>;
  /** Without `attachments` the files of the old question are kept; without `choice`, the session's model answers. */
  edit: (
    messageId: string,
    message: string,
    agentId?: string,
    attachments?: string[],
    choice?: ModelChoice,
  ) => Promise<Response>;
  /** `beside` does not wait for the answer that is being generated. */
  regenerate: (
    messageId: string,
    agentId?: string,
    choice?: ModelChoice,
    beside?: boolean,
  ) => Promise<Response>;
  follow: (messageId: string, after: number, signal: AbortSignal) => Promise<Response>;
  stop: (messageId: string) => Promise<unknown>;
  approve: (messageId: string, callId: string, approved: boolean) => Promise<unknown>;
  answer: (messageId: string, question: string, reply: Reply) => Promise<unknown>;
  /** `stop` ends the answer that the message waits for. */
  sendQueued: (sessionId: string, id: string, stop: boolean) => Promise<unknown>;
  /** Whether trying again may help. */
  isTransient: (error: unknown) => boolean;
}

export interface Hooks {
  /** Whether the user has allowed this tool to run without approval. */
  isAllowed?: (tool: ToolPart) => boolean;
  /** A question was sent or an answer has ended: lists of sessions are stale. */
  onChange?: (sessionId: string) => void;
  /** Whether the model of this agent can be chosen. */
  choosesModel?: (agentId: string | null) => boolean;
  /** The model that a new conversation starts with. */
  rememberedModel?: () => ModelChoice | null;
  now?: () => number;
  pause?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}
