import { loadMarkdown } from "../messages/answer-view";
import { revealMessage } from "../messages/reveal";
import { bringIntoView, rangesIn, unfold } from "./match-ranges";

/** A match: the number of it within its message. */
export interface Match {
  id: string;
  nth: number;
}

const ALL = "find";
const CURRENT = "find-current";
/** How long a match is kept in view: what is rendered around it moves it. */
const KEPT_MS = 1_500;
const MAX_MS = 10_000;

const nextFrame = () => new Promise((resume) => requestAnimationFrame(resume));

/** Marks the matches in the messages that are rendered, and goes on as they change. The document is not touched. */
export function markMatches(query: string, current: Match | null): () => void {
  const scroller = document.querySelector(".messages");
  if (!scroller || !query || !("highlights" in CSS)) return () => undefined;
  let frame = 0;
  const mark = () => {
    frame = 0;
    const ids = [...scroller.querySelectorAll<HTMLElement>(".messages-item")].map(
      ({ dataset }) => dataset.message ?? "",
    );
    const ranges = new Map(ids.map((id) => [id, rangesIn(id, query)]));
    CSS.highlights.set(ALL, new Highlight(...[...ranges.values()].flat()));
    const chosen = current && nthOf(ranges.get(current.id) ?? [], current.nth);
    const highlight = new Highlight(...(chosen ? [chosen] : []));
    highlight.priority = 1;
    CSS.highlights.set(CURRENT, highlight);
  };
  const later = () => {
    frame ||= requestAnimationFrame(mark);
  };
  const observer = new MutationObserver(later);
  observer.observe(scroller, { childList: true, subtree: true, characterData: true });
  mark();
  return () => {
    observer.disconnect();
    cancelAnimationFrame(frame);
    CSS.highlights.delete(ALL);
    CSS.highlights.delete(CURRENT);
  };
}

/**
 * Scrolls to a match. Messages on the way are measured when they are rendered, so it takes several frames, and ends when
 * the reader scrolls.
 */
export async function showMatch(query: string, { id, nth }: Match, isStale: () => boolean): Promise<void> {
  await loadMarkdown().catch(() => undefined);
  const reader = new AbortController();
  for (const name of ["wheel", "touchmove", "pointerdown"])
    document
      .querySelector(".messages")
      ?.addEventListener(name, () => reader.abort(), { signal: reader.signal, passive: true });
  const began = performance.now();
  let shown: number | null = null;
  for (let now = began; now < (shown === null ? began + MAX_MS : shown + KEPT_MS); now = performance.now()) {
    if (isStale() || reader.signal.aborted) break;
    revealMessage(id);
    const range = nthOf(rangesIn(id, query), nth);
    if (range) {
      unfold(range);
      bringIntoView(range);
      shown ??= now;
    }
    await nextFrame();
  }
  reader.abort();
}

/** The text on the page may have fewer matches than the message, where a part of it is not shown. */
function nthOf(ranges: readonly Range[], nth: number): Range | undefined {
  return ranges[Math.min(nth, ranges.length - 1)];
}
