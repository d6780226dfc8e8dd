import { type ChatEvent, decodeEvent } from "./events";
import { readSse } from "./sse";

/** Reads an answer to its end, over as many connections as it takes. */
const SILENCE_TIMEOUT_MS = 40_000; // the server sends a heartbeat every 15 seconds
const RETRY_DELAYS_MS = [300, 1_000, 2_000, 4_000, 8_000];

export interface Numbered {
  id: number;
  event: ChatEvent;
}

export type Link = "connected" | "waiting";

export interface FollowOptions {
  /** The response of the request that started the answer, if any. */
  first?: Response;
  /** Opens another connection for the events after `after`. */
  open: (after: number, signal: AbortSignal) => Promise<Response>;
  after: number;
  onEvents: (events: Numbered[]) => void;
  onLink: (link: Link) => void;
  /** Whether trying again may help after this error. */
  isTransient: (error: unknown) => boolean;
  signal: AbortSignal;
  pause?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Resolves after `done`, or after a 204 response: nothing more to read. */
export async function follow(options: FollowOptions): Promise<void> {
  const { open, onEvents, onLink, isTransient, signal, pause = sleep } = options;
  let after = options.after;
  let failures = 0;
  let response: Response | null = options.first ?? null;
  while (!signal.aborted) {
    try {
      response ??= await open(after, signal);
      if (response.status === 204 || !response.body) return;
      onLink("connected");
      for await (const events of readUntilSilent(response.body, signal)) {
        failures = 0;
        const fresh = events.filter(({ id }) => id > after);
        after = fresh.at(-1)?.id ?? after;
        if (fresh.length) onEvents(fresh);
        if (fresh.at(-1)?.event.type === "done") return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isTransient(error)) throw error;
    }
    response = null;
    onLink("waiting");
    await pause(jitter(RETRY_DELAYS_MS[Math.min(failures++, RETRY_DELAYS_MS.length - 1)] ?? 0), signal);
  }
}

function jitter(milliseconds: number): number {
  return milliseconds * (0.75 + Math.random() / 2);
}

/** Ends when nothing was received for too long: browsers do not notice every dead connection. */
async function* readUntilSilent(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Numbered[]> {
  const batches = readSse(body);
  try {
    for (;;) {
      const next = await orTimeout(batches.next(), signal);
      if (next === null || next.done) return;
      yield next.value.flatMap((raw) => {
        const event = decodeEvent(raw);
        return event ? [{ id: raw.id, event }] : [];
      });
    }
  } finally {
    void batches.return(undefined);
    void body.cancel().catch(() => undefined);
  }
}

function orTimeout<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(null), SILENCE_TIMEOUT_MS);
    const stop = () => resolve(null);
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    });
  });
}

/** Ends early when the browser comes back online. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      globalThis.removeEventListener?.("online", wake);
      resolve();
    };
    const timer = setTimeout(wake, milliseconds);
    signal.addEventListener("abort", wake, { once: true });
    globalThis.addEventListener?.("online", wake, { once: true });
  });
}
