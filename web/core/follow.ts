import { type ChatEvent, decodeEvent } from "./events";
import { readSse } from "./sse";

/** Reading an answer to its end, over as many connections as it takes. */
export const SILENCE_MS = 40_000; // the house says something every 15 seconds
export const PAUSES_MS = [300, 1_000, 2_000, 4_000, 8_000];

export interface Numbered {
  id: number;
  event: ChatEvent;
}

export type Link = "connected" | "waiting";

export interface FollowOptions {
  /** The first connection, if there is one already. */
  first?: Response;
  /** Another connection, with the events after `after`. It throws for a refusal that trying again cannot mend. */
  open: (after: number, signal: AbortSignal) => Promise<Response>;
  after: number;
  onEvents: (events: Numbered[]) => void;
  onLink: (link: Link) => void;
  /** Whether a failure may pass. */
  isPassing: (error: unknown) => boolean;
  signal: AbortSignal;
  pause?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Resolves once `done` was received or the house says that there is no more. */
export async function follow(options: FollowOptions): Promise<void> {
  const { open, onEvents, onLink, isPassing, signal, pause = sleep } = options;
  let after = options.after;
  let failures = 0;
  let response: Response | null = options.first ?? null;
  while (!signal.aborted) {
    try {
      response ??= await open(after, signal);
      if (response.status === 204 || !response.body) return;
      onLink("connected");
      for await (const events of readAlive(response.body, signal)) {
        failures = 0;
        const fresh = events.filter(({ id }) => id > after);
        after = fresh.at(-1)?.id ?? after;
        if (fresh.length) onEvents(fresh);
        if (fresh.at(-1)?.event.type === "done") return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isPassing(error)) throw error;
    }
    response = null;
    onLink("waiting");
    await pause(jitter(PAUSES_MS[Math.min(failures++, PAUSES_MS.length - 1)] ?? 0), signal);
  }
}

function jitter(milliseconds: number): number {
  return milliseconds * (0.75 + Math.random() / 2);
}

/** A connection that is silent for too long is dead, whatever the browser thinks. */
async function* readAlive(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<Numbered[]> {
  const batches = readSse(body);
  try {
    for (;;) {
      const next = await orSilence(batches.next(), signal);
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

function orSilence<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(null), SILENCE_MS);
    const stop = () => resolve(null);
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    });
  });
}

/** Coming online again ends the wait. */
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
