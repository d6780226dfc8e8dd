import { apiUrl } from "./api";

const POLL_INTERVAL_MS = 2_000;

/** Any response counts, even an error from a proxy in front of Chie. */
export function isReachable(): Promise<boolean> {
  return fetch(apiUrl("icon.svg"), { cache: "no-store" }).then(
    () => true,
    () => false,
  );
}

let waiting: Promise<void> | null = null;

/** Resolves when the server is reachable again. All callers share one poll. */
export function reconnected(): Promise<void> {
  waiting ??= poll().finally(() => {
    waiting = null;
  });
  return waiting;
}

async function poll(): Promise<void> {
  do await new Promise((done) => setTimeout(done, POLL_INTERVAL_MS));
  while (!(await isReachable()));
}
