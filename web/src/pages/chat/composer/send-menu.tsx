import { memo } from "react";
import { allowedTools, useAllowedTools } from "../../../agents/allowed-tools";
import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { StoredSetting, useStoredSetting } from "../../../stored-setting";
import { IconButton } from "../../../ui/button";
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from "../../../ui/menu";

type SendKey = "enter" | "ctrl-enter";

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

/** How messages are sent, and the tools that run without asking. */
export const SendMenu = memo(function SendMenu() {
  const t = useText(chatText);
  const chosen = useStoredSetting(sendKey);
  const allowed = useAllowedTools();
  return (
    <Menu align="end" trigger={<IconButton icon="more" label={t.sendOptions} />}>
      <MenuLabel>{t.sendOptions}</MenuLabel>
      <MenuChoice checked={chosen === "enter"} onSelect={() => sendKey.set("enter")}>
        {t.enterSends}
      </MenuChoice>
      <MenuChoice checked={chosen === "ctrl-enter"} onSelect={() => sendKey.set("ctrl-enter")}>
        {IS_MAC ? t.cmdEnterSends : t.ctrlEnterSends}
      </MenuChoice>
      {allowed.length > 0 && (
        <>
          <MenuSeparator />
          <MenuLabel>{t.rememberedTools}</MenuLabel>
          <MenuItem icon="shield" note={allowed.join(", ")} onSelect={() => allowedTools.clear()}>
            {t.forgetTools}
          </MenuItem>
        </>
      )}
    </Menu>
  );
});
