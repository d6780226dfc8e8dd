import type { Params, ServerMessage, ServerText } from "./server-message";
import type { SseEvent } from "./sse";

/** The events of an answer, as documented in docs/chat.md. */
export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cached_tokens?: number;
  cache_write_tokens?: number;
  reasoning_tokens?: number;
  /** The server did not count, or the answer was cut off. */
  estimated?: boolean;
  models?: string[];
  /** In US dollars; missing if the price of a model is not known. */
  cost?: number;
}

export type ChatEvent =
  | { type: "message"; content: string }
  | { type: "reasoning"; content: string; duration_ms?: number }
  | { type: "summary"; questions: number; content?: string }
  | {
      type: "tool_call";
      id: string;
      name: string;
      arguments: Record<string, unknown>;
      approval?: "required";
      definition?: string;
      changed?: true;
      preview?: Preview;
      view?: { server: string; uri: string };
    }
  | {
      type: "tool_result";
      id: string;
      name: string;
      content: string;
      is_error: boolean;
      code?: string | null;
      params?: Params | null;
      duration_ms?: number;
      structured?: Record<string, unknown>;
      blocks?: object[];
    }
  | { type: "tool_preview"; id: string; preview: Preview }
  | { type: "tool_progress"; id: string; progress: number; total: number | null; message?: string }
  | { type: "tool_log"; id: string; level: string; text: string }
  | Question
  | { type: "elicitation_end"; id: string; action: string }
  | { type: "error"; error: ServerText; code?: string | null; params?: Params | null }
  | { type: "done"; message_id: string | null; session_id?: string; usage?: Usage | null; finish?: Finish };

/** How much a call may harm: by its server's hints, or by what Chie knows of it. */
type Danger = "read" | "add" | "change" | "delete";

/** What a call that waits for approval would do. */
export interface Preview extends ServerMessage {
  danger: Danger;
  /** Consequences, a sentence each. */
  notes?: ServerMessage[];
  changes?: FieldChange[];
  /** The number of changes that are left out. */
  more?: number;
  /** The date of the state that would be restored, or of the execution that would be repeated. */
  moment?: string;
  /** The server's own words about the tool. */
  description?: string;
}

/** `before` is null for what is new, `after` for what goes; both are where the label says it all. */
export interface FieldChange extends ServerMessage {
  before: string | null;
  after: string | null;
}

/** A server asks the user while its tool runs: to fill in a form, to open a URL, or whether the model may answer it. */
export interface Question {
  type: "elicitation";
  id: string;
  call_id: string;
  server: string;
  mode: "form" | "url" | "sampling";
  message: string;
  schema?: { properties?: Record<string, FieldSchema>; required?: string[] };
  url?: string;
}

/** The subset of JSON Schema that MCP allows in a form. */
export interface FieldSchema {
  type?: string;
  title?: string;
  description?: string;
  default?: unknown;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  enum?: string[];
  enumNames?: string[];
  oneOf?: { const: string; title?: string }[];
  items?: { enum?: string[]; anyOf?: { const: string; title?: string }[] };
}

/** Why an answer ended, where the model did not end it: a length limit, or the provider's content filter. */
type Finish = "length" | "content_filter";

const TYPES = new Set([
  "message",
  "reasoning",
  "summary",
  "tool_call",
  "tool_preview",
  "tool_progress",
  "tool_log",
  "elicitation",
  "elicitation_end",
  "tool_result",
  "error",
  "done",
]);

/** Null for an event type that this page does not know, which a newer server may send. */
export function decodeEvent(event: SseEvent): ChatEvent | null {
  if (!TYPES.has(event.event)) return null;
  const data: unknown = JSON.parse(event.data);
  if (typeof data !== "object" || data === null) return null;
  return { ...data, type: event.event } as ChatEvent;
}
