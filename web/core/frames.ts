/** Runs callbacks at most once per animation frame; a hidden page has no frames and uses a timer instead. */
const HIDDEN_INTERVAL_MS = 250;

interface Clock {
  request: (run: () => void) => void;
}

const browserClock: Clock = {
  request: (run) => {
    if (document.visibilityState === "hidden") setTimeout(run, HIDDEN_INTERVAL_MS);
    else requestAnimationFrame(run);
  },
};

export class Frames {
  #waiting = new Set<() => void>();
  #requested = false;

  constructor(private readonly clock: Clock = browserClock) {}

  schedule(run: () => void): void {
    this.#waiting.add(run);
    if (this.#requested) return;
    this.#requested = true;
    this.clock.request(() => this.flush());
  }

  flush(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    this.#requested = false;
    for (const run of waiting) run();
  }
}
