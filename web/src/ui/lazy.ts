import { type ComponentType, lazy } from "react";

/** A part of the page could not be loaded. */
export class ChunkLoadError extends Error {}

/** A component that is loaded on first use. */
export function lazyPage<Props>(load: () => Promise<{ default: ComponentType<Props> }>) {
  return lazy(() =>
    load().catch((cause: unknown) => {
      throw new ChunkLoadError("could not load a part of the page", { cause });
    }),
  );
}
