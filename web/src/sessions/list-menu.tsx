import { useState } from "react";
import { useText } from "../i18n/language";
import { sessionsText } from "../i18n/strings/sessions";
import { go, hrefTo } from "../route";
import { IconButton } from "../ui/button";
import { lazyPage } from "../ui/lazy";
import { LazyDialog } from "../ui/lazy-dialog";
import { Menu, MenuItem } from "../ui/menu";

const ImportDialog = lazyPage(() => import("./import/import-dialog"));

/** What concerns all conversations. */
export function ListMenu() {
  const t = useText(sessionsText);
  const [importing, setImporting] = useState(false);
  return (
    <>
      <Menu align="end" trigger={<IconButton icon="more" label={t.listActions} />}>
        <MenuItem icon="archive" onSelect={() => go(hrefTo("archive"))}>
          {t.archiveView}
        </MenuItem>
        <MenuItem icon="upload" onSelect={() => setImporting(true)}>
          {t.importView}
        </MenuItem>
      </Menu>
      {importing && (
        <LazyDialog label={t.importView} onClose={() => setImporting(false)}>
          <ImportDialog onClose={() => setImporting(false)} />
        </LazyDialog>
      )}
    </>
  );
}
