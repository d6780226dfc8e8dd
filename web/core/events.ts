import type { SseEvent } from "./sse";
import type { ServerText } from "./texts";

/** The five events of an answer, as docs/chat.md tells them. */
export interface Usage {
  input_tokens: number;
  output_tokens: number;
}

export type ChatEvent =
  | { type: "message"; content: string }
  | { type: "tool_call"; id: string; name: string; arguments: Record<string, unknown>; approval?: "required" }
  | {
      type: "tool_result";
      id: string;
      name: string;
      content: string;
      is_error: boolean;
      duration_ms?: number;
    }
  | { type: "error"; error: ServerText }
  | { type: "done"; message_id: string | null; session_id?: string; usage?: Usage | null; finish?: Finish };

/** Who ended an answer, where the model did not: its limit of tokens, or its provider's filter. */
export type Finish = "length" | "content_filter";

const TYPES = new Set(["message", "tool_call", "tool_result", "error", "done"]);

/** Null for what a newer house may send and this page does not know. */
export function decodeEvent(event: SseEvent): ChatEvent | null {
  if (!TYPES.has(event.event)) return null;
  const data: unknown = JSON.parse(event.data);
  if (typeof data !== "object" || data === null) return null;
  return { ...data, type: event.event } as ChatEvent;
}
