import "./shell.css";
import { type ReactNode, useEffect, useState } from "react";
import { useText } from "../i18n/language";
import { shellText } from "../i18n/shell";
import { hrefTo, useRoute } from "../route";
import { Button, IconButton } from "../ui/button";
import { Modal } from "../ui/dialog";
import { Sidebar } from "./sidebar";

/** The frame around every page: places and sessions at the side, or behind a button where the screen is narrow. */
export function Shell({ children }: { children: ReactNode }) {
  const t = useText(shellText);
  const [drawer, setDrawer] = useState(false);
  const route = useRoute();
  // biome-ignore lint/correctness/useExhaustiveDependencies: going anywhere closes the drawer
  useEffect(() => setDrawer(false), [route]);
  return (
    <div className="shell">
      <Button className="skip" onClick={() => document.getElementById("main")?.focus()}>
        {t.skip}
      </Button>
      <Sidebar />
      <main id="main" className="shell-main" tabIndex={-1}>
        <div className="shell-bar">
          <IconButton icon="menu" label={t.menu} aria-haspopup="dialog" onClick={() => setDrawer(true)} />
          <span className="grow" />
          <a className="button quiet icon-only" href={hrefTo("chat")} aria-label={t.chat} title={t.chat}>
            <img src="./icon.svg" alt="" width="22" height="22" />
          </a>
        </div>
        {children}
      </main>
      {drawer && (
        <Modal className="drawer" label={t.menu} onClose={() => setDrawer(false)}>
          <Sidebar />
        </Modal>
      )}
    </div>
  );
}
