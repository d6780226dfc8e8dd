import type { ChatEvent, Usage } from "./events";
import type { ServerText } from "./texts";

/** An answer as far as it is known: what was said and which tools ran, in order. */
export type Status = "complete" | "streaming" | "stopped" | "interrupted" | "failed";

export interface TextPart {
  type: "text";
  text: string;
}

export interface ToolPart {
  type: "tool";
  /** Models may use an id twice in an answer, so this is not it: it is the place among the parts. */
  key: number;
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  needsApproval: boolean;
  result: { content: string; isError: boolean } | null;
  startedAt: number | null;
  milliseconds: number | null;
}

export type Part = TextPart | ToolPart;

export interface Answer {
  status: Status;
  parts: Part[];
  error: ServerText | null;
  usage: Usage | null;
  /** The model's limit of tokens ended it. */
  cut: boolean;
  /** The model's provider stopped it. */
  filtered: boolean;
  lastEventId: number;
}

export const EMPTY_ANSWER: Answer = {
  status: "streaming",
  parts: [],
  error: null,
  usage: null,
  cut: false,
  filtered: false,
  lastEventId: 0,
};

/** The answer after one more event. An event that was seen before changes nothing: that is how resuming is safe. */
export function applyEvent(answer: Answer, id: number, event: ChatEvent, now: number | null = null): Answer {
  if (id <= answer.lastEventId) return answer;
  return { ...answer, ...change(answer, event, now), lastEventId: id };
}

function change(answer: Answer, event: ChatEvent, now: number | null): Partial<Answer> {
  switch (event.type) {
    case "message":
      return { parts: addText(answer.parts, event.content) };
    case "tool_call":
      return { parts: [...answer.parts, newTool(answer.parts.length, event, now)] };
    case "tool_result":
      return { parts: addResult(answer.parts, event, now) };
    case "error":
      return { error: event.error };
    case "done":
      return {
        status: ending(answer, event.message_id),
        usage: event.usage ?? null,
        cut: event.finish === "length",
        filtered: event.finish === "content_filter",
      };
  }
}

/** `done` does not tell a stop from an end; whoever asked to stop knows. */
function ending(answer: Answer, messageId: string | null): Status {
  return messageId === null || answer.error !== null ? "failed" : "complete";
}

function addText(parts: Part[], text: string): Part[] {
  const last = parts.at(-1);
  if (last?.type !== "text") return [...parts, { type: "text", text }];
  return [...parts.slice(0, -1), { type: "text", text: last.text + text }];
}

type Call = Extract<ChatEvent, { type: "tool_call" }>;
type Result = Extract<ChatEvent, { type: "tool_result" }>;

function newTool(key: number, event: Call, now: number | null): ToolPart {
  return {
    type: "tool",
    key,
    id: event.id,
    name: event.name,
    arguments: event.arguments ?? {},
    needsApproval: event.approval === "required",
    result: null,
    startedAt: now,
    milliseconds: null,
  };
}

function addResult(parts: Part[], event: Result, now: number | null): Part[] {
  const result = { content: event.content, isError: event.is_error };
  const place = parts.findIndex(
    (part) => part.type === "tool" && part.id === event.id && part.result === null,
  );
  const found = parts[place];
  if (found?.type !== "tool") {
    const call: Call = { type: "tool_call", id: event.id, name: event.name, arguments: {} };
    return [
      ...parts,
      { ...newTool(parts.length, call, null), result, milliseconds: event.duration_ms ?? null },
    ];
  }
  const measured = now !== null && found.startedAt !== null ? now - found.startedAt : null;
  const milliseconds = event.duration_ms ?? measured;
  return parts.with(place, { ...found, result, milliseconds });
}

export function textOf(answer: Pick<Answer, "parts">): string {
  return answer.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

export function waitingTools(answer: Answer): ToolPart[] {
  if (answer.status !== "streaming") return [];
  return answer.parts.filter(
    (part) => part.type === "tool" && part.needsApproval && part.result === null,
  ) as ToolPart[];
}
