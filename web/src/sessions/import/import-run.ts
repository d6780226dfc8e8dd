import type { Params, ServerText } from "../../../core/server-message";
import { ApiError, send } from "../../api";

export interface Skipped {
  title: string;
  detail: ServerText;
  code: string;
  params: Params;
}

export interface Report {
  done: boolean;
  conversations: number;
  new: number;
  extended: number;
  existing: number;
  messages: number;
  skipped_count: number;
  skipped: Skipped[];
}

type Line = Report | { detail: ServerText; code: string; params: Params };

/** Sends the file; the report grows while the server works through it. */
export async function sendExport(
  file: File,
  { dryRun, signal, onReport }: { dryRun: boolean; signal: AbortSignal; onReport: (report: Report) => void },
): Promise<void> {
  const body = new FormData();
  body.append("file", file);
  const response = await send("POST", "/api/sessions/import", { query: { dry_run: dryRun }, body, signal });
  let last: Line | null = null;
  for await (const line of linesOf(response)) {
    last = JSON.parse(line) as Line;
    if ("detail" in last)
      throw new ApiError(500, { text: last.detail, code: last.code, params: last.params });
    onReport(last);
  }
  // The connection broke: a response that is complete says so.
  if (!last || !("done" in last) || !last.done) throw new TypeError("the response is incomplete");
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest) yield rest;
}
