import { useText } from "../i18n/language";
import { sessionsText } from "../i18n/sessions";
import { go, hrefTo } from "../route";
import { IconButton } from "../ui/button";
import { Menu, MenuItem } from "../ui/menu";

/** What concerns all conversations. */
export function ListMenu() {
  const t = useText(sessionsText);
  return (
    <Menu align="end" trigger={<IconButton icon="more" label={t.listActions} />}>
      <MenuItem icon="archive" onSelect={() => go(hrefTo("archive"))}>
        {t.archiveView}
      </MenuItem>
    </Menu>
  );
}
