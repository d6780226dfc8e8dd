/** Server-Sent Events over fetch: EventSource can neither POST nor choose the event to resume from. */
export interface SseEvent {
  id: number;
  event: string;
  data: string;
}

/** Takes text in chunks of any size and returns the events completed by each. Comments, the heartbeats, are skipped. */
export class SseParser {
  #rest = "";
  #event = "";
  #id = 0;
  #data: string[] = [];

  push(text: string): SseEvent[] {
    const found: SseEvent[] = [];
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = this.#line(line.endsWith("\r") ? line.slice(0, -1) : line);
      if (event) found.push(event);
    }
    return found;
  }

  #line(line: string): SseEvent | null {
    if (line === "") return this.#finish();
    const colon = line.indexOf(":");
    if (colon === 0) return null;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#event = value;
    else if (name === "id" && /^\d+$/.test(value)) this.#id = Number(value);
    return null;
  }

  #finish(): SseEvent | null {
    const [event, data] = [this.#event, this.#data];
    this.#event = "";
    this.#data = [];
    return data.length ? { id: this.#id, event: event || "message", data: data.join("\n") } : null;
  }
}

/** Batches of events as they arrive; an empty batch is a heartbeat. Handles characters split across chunks. */
export async function* readSse(body: ReadableStream<Uint8Array>): AsyncGenerator<SseEvent[]> {
  const parser = new SseParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
