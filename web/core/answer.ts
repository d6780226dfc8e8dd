import type { ChatEvent, Preview, Question, Usage } from "./events";
import type { Params, ServerMessage } from "./server-message";

/** An answer so far: its text and its tool calls, in order. */
export type Status = "complete" | "streaming" | "stopped" | "interrupted" | "failed";

interface TextPart {
  type: "text";
  text: string;
}

/** What the model thought before it answered or called a tool; not a part of the answer. */
export interface ReasoningPart {
  type: "reasoning";
  text: string;
  /** Null while it goes on. */
  milliseconds: number | null;
}

/** The model reads this in place of the oldest turns, which were too long for it. */
export interface SummaryPart {
  type: "summary";
  questions: number;
  /** Null while it is being written; empty where the turns were left out instead. */
  text: string | null;
}

/** The view of a tool: an MCP App of its server. */
export interface ViewRef {
  server: string;
  uri: string;
}

export interface ToolPart {
  type: "tool";
  /** The index among the parts; models may use the same call id twice in an answer. */
  key: number;
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  needsApproval: boolean;
  /** Identifies the tool's description, schema and hints. */
  definition?: string;
  /** They differ from the ones that the operator approved. */
  changed?: boolean;
  /** What it would do, for the user who is asked. */
  preview?: Preview;
  view?: ViewRef;
  result: ToolOutcome | null;
  /** The last report of a tool that runs. */
  progress?: { progress: number; total: number | null; message?: string };
  /** Lines that its server wrote meanwhile. */
  logs?: string[];
  startedAt: number | null;
  milliseconds: number | null;
}

export interface ToolOutcome {
  content: string;
  /** Where a view shows it. */
  structured?: Record<string, unknown>;
  /** Content blocks as the server sent them, where a view shows more than their text. */
  blocks?: object[];
  isError: boolean;
  /** Where the tool reported an error of the server's catalogue. */
  code?: string | null;
  params?: Params | null;
}

export type Part = TextPart | ReasoningPart | SummaryPart | ToolPart;

export interface Answer {
  status: Status;
  parts: Part[];
  error: ServerMessage | null;
  usage: Usage | null;
  /** A length limit ended it. */
  truncated: boolean;
  /** The model provider's content filter ended it. */
  filtered: boolean;
  lastEventId: number;
  /** Questions of servers that wait for the user. */
  questions: Question[];
}

export const EMPTY_ANSWER: Answer = {
  status: "streaming",
  parts: [],
  error: null,
  usage: null,
  truncated: false,
  filtered: false,
  lastEventId: 0,
  questions: [],
};

/** The answer after one more event. Applying an event twice changes nothing, which makes resuming safe. */
export function applyEvent(answer: Answer, id: number, event: ChatEvent, now: number | null = null): Answer {
  if (id <= answer.lastEventId) return answer;
  return { ...answer, ...change(answer, event, now), lastEventId: id };
}

function change(answer: Answer, event: ChatEvent, now: number | null): Partial<Answer> {
  switch (event.type) {
    case "message":
      return { parts: addText(answer.parts, event.content) };
    case "reasoning":
      return { parts: addReasoning(answer.parts, event.content, event.duration_ms ?? null) };
    case "summary":
      return { parts: addSummary(answer.parts, event.questions, event.content ?? null) };
    case "tool_call":
      return { parts: [...answer.parts, newTool(answer.parts.length, event, now)] };
    case "tool_preview":
      return { parts: changeTool(answer.parts, event.id, () => ({ preview: event.preview })) };
    case "tool_progress":
      return { parts: changeTool(answer.parts, event.id, () => ({ progress: event })) };
    case "tool_log":
      return {
        parts: changeTool(answer.parts, event.id, ({ logs = [] }) => ({ logs: [...logs, event.text] })),
      };
    case "elicitation":
      return { questions: [...answer.questions, event] };
    case "elicitation_end":
      return { questions: answer.questions.filter(({ id }) => id !== event.id) };
    case "tool_result":
      return { parts: addResult(answer.parts, event, now) };
    case "error":
      return { error: { text: event.error, code: event.code, params: event.params } };
    case "done":
      return {
        status: ending(answer, event.message_id),
        usage: event.usage ?? null,
        truncated: event.finish === "length",
        filtered: event.finish === "content_filter",
      };
  }
}

/** `done` looks the same for a stopped answer; the caller that stopped it corrects the status. */
function ending(answer: Answer, messageId: string | null): Status {
  return messageId === null || answer.error !== null ? "failed" : "complete";
}

function addText(parts: Part[], text: string): Part[] {
  const last = parts.at(-1);
  if (last?.type !== "text") return [...parts, { type: "text", text }];
  return [...parts.slice(0, -1), { type: "text", text: last.text + text }];
}

function addReasoning(parts: Part[], text: string, milliseconds: number | null): Part[] {
  const last = parts.at(-1);
  if (last?.type !== "reasoning") return [...parts, { type: "reasoning", text, milliseconds }];
  return [...parts.slice(0, -1), { type: "reasoning", text: last.text + text, milliseconds }];
}

/** The finished summary takes the place of the announced one. */
function addSummary(parts: Part[], questions: number, text: string | null): Part[] {
  const before = parts.at(-1)?.type === "summary" ? parts.slice(0, -1) : parts;
  return [...before, { type: "summary", questions, text }];
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
    ...(event.definition && { definition: event.definition }),
    ...(event.changed && { changed: true }),
    ...(event.preview && { preview: event.preview }),
    ...(event.view && { view: event.view }),
    result: null,
    startedAt: now,
    milliseconds: null,
  };
}

function changeTool(parts: Part[], id: string, change: (tool: ToolPart) => Partial<ToolPart>): Part[] {
  return parts.map((part) =>
    part.type === "tool" && part.id === id && part.result === null ? { ...part, ...change(part) } : part,
  );
}

function addResult(parts: Part[], event: Result, now: number | null): Part[] {
  const { content, is_error: isError, code, params } = event;
  const result: ToolOutcome = { content, isError, code, params };
  if (event.structured) result.structured = event.structured;
  if (event.blocks) result.blocks = event.blocks;
  const index = parts.findIndex(
    (part) => part.type === "tool" && part.id === event.id && part.result === null,
  );
  const found = parts[index];
  if (found?.type !== "tool") {
    const call: Call = { type: "tool_call", id: event.id, name: event.name, arguments: {} };
    return [
      ...parts,
      { ...newTool(parts.length, call, null), result, milliseconds: event.duration_ms ?? null },
    ];
  }
  const measured = now !== null && found.startedAt !== null ? now - found.startedAt : null;
  const milliseconds = event.duration_ms ?? measured;
  return parts.with(index, { ...found, result, milliseconds });
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
