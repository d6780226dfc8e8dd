import { address } from "./api";

/** Whether the house is there; for those who had no answer. */
const PAUSE_MS = 2_000;

/** Any answer is one: what stands before the house may refuse, but then it is there. */
export function answers(): Promise<boolean> {
  return fetch(address("icon.svg"), { cache: "no-store" }).then(
    () => true,
    () => false,
  );
}

let waiting: Promise<void> | null = null;

/** One question every two seconds, however many wait for it. */
export function houseIsBack(): Promise<void> {
  waiting ??= asking().finally(() => {
    waiting = null;
  });
  return waiting;
}

async function asking(): Promise<void> {
  do await new Promise((done) => setTimeout(done, PAUSE_MS));
  while (!(await answers()));
}
