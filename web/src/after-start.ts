import { useEffect, useState } from "react";

const LATEST_MS = 1_000;
const WITHOUT_IDLE_MS = 200; // Safari has no `requestIdleCallback`

let reached = false;
let reaching: Promise<void> | null = null;

/** Resolves when the browser is idle after the first view was rendered. */
export function afterStart(): Promise<void> {
  reaching ??= new Promise<void>((resolve) => {
    if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(), { timeout: LATEST_MS });
    else setTimeout(resolve, WITHOUT_IDLE_MS);
  }).then(() => {
    reached = true;
  });
  return reaching;
}

/** False during the start of the page: for requests that would delay the moment when the user can type. */
export function useAfterStart(): boolean {
  const [after, setAfter] = useState(reached);
  useEffect(() => {
    if (after) return;
    let mounted = true;
    void afterStart().then(() => mounted && setAfter(true));
    return () => {
      mounted = false;
    };
  }, [after]);
  return after;
}
