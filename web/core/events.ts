import type { Params, ServerText } from "./server-message";
import type { SseEvent } from "./sse";

/** The events of an answer, as documented in docs/chat.md. */
export interface Usage {
  input_tokens: number;
  output_tokens: number;
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
    }
  | { type: "error"; error: ServerText; code?: string | null; params?: Params | null }
  | { type: "done"; message_id: string | null; session_id?: string; usage?: Usage | null; finish?: Finish };

/** Why an answer ended, where the model did not end it: a length limit, or the provider's content filter. */
export type Finish = "length" | "content_filter";

const TYPES = new Set(["message", "reasoning", "summary", "tool_call", "tool_result", "error", "done"]);

/** Null for an event type that this page does not know, which a newer server may send. */
export function decodeEvent(event: SseEvent): ChatEvent | null {
  if (!TYPES.has(event.event)) return null;
  const data: unknown = JSON.parse(event.data);
  if (typeof data !== "object" || data === null) return null;
  return { ...data, type: event.event } as ChatEvent;
}
