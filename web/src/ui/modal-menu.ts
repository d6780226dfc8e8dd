/** In place of the packages `react-remove-scroll` and `aria-hidden`, which Radix imports for modal menus. */
import { Fragment } from "react";

export const RemoveScroll = Fragment;

export function hideOthers(): never {
  throw new Error("Menus are not modal: see ui/menu.tsx.");
}
