import { StoredSetting } from "../../../stored-setting";

export type SendKey = "enter" | "ctrl-enter";

export const sendKey = new StoredSetting<SendKey>("chie.send-key", ["enter", "ctrl-enter"], "enter");

export const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);

/** On a touch keyboard Enter inserts a line break; the button sends. */
const TOUCH = matchMedia("(hover: none) and (pointer: coarse)");

export function sends(
  key: { ctrlKey: boolean; metaKey: boolean; shiftKey: boolean; altKey: boolean },
  chosen: SendKey,
): boolean {
  if (key.ctrlKey || key.metaKey) return true;
  return chosen === "enter" && !key.shiftKey && !key.altKey && !TOUCH.matches;
}
