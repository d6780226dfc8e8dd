/** A store that React can subscribe to with `useSyncExternalStore`. */
export class Observable {
  #listeners = new Set<() => void>();

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  protected notify = (): void => {
    for (const listener of this.#listeners) listener();
  };
}
