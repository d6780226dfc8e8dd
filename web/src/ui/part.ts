import { type ComponentType, lazy } from "react";

/** A part of the page that did not come when it was needed. */
export class MissingPart extends Error {}

/** A part that is loaded when it is needed first. */
export function part<Props>(load: () => Promise<{ default: ComponentType<Props> }>) {
  return lazy(() =>
    load().catch((cause: unknown) => {
      throw new MissingPart("a part of the page could not be loaded", { cause });
    }),
  );
}
