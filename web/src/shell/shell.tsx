import "./shell.css";
import { lazy, type ReactNode, useEffect, useState } from "react";
import { useText } from "../i18n/language";
import { chatText } from "../i18n/strings/chat";
import { shellText } from "../i18n/strings/shell";
import { go, hrefTo, useRoute } from "../route";
import { useRemoved } from "../sessions/client";
import { Button, IconButton, LinkButton } from "../ui/button";
import { Modal } from "../ui/dialog";
import { focusMain } from "../ui/focus";
import { LazyDialog } from "../ui/lazy-dialog";
import type { PageEntry } from "./page-entry";
import { Sidebar } from "./sidebar";

const Palette = lazy(() => import("./palette"));

/** The layout around every page: a sidebar, or a drawer on narrow screens. */
export function Shell({ pages, children }: { pages: readonly PageEntry[]; children: ReactNode }) {
  const t = useText(shellText);
  const chat = useText(chatText);
  const [drawer, setDrawer] = useState(false);
  const [palette, setPalette] = useState(false);
  const route = useRoute();
  const removed = useRemoved();
  // biome-ignore lint/correctness/useExhaustiveDependencies: navigation closes the drawer; so does a deletion, whose Undo it would cover
  useEffect(() => setDrawer(false), [route, removed]);
  useShortcuts(() => setPalette(true));
  const showPalette = () => {
    setDrawer(false);
    setPalette(true);
  };
  return (
    <div className="shell">
      <Button className="skip" onClick={focusMain}>
        {t.skip}
      </Button>
      <Sidebar pages={pages} onPalette={showPalette} />
      <main id="main" className="shell-main" tabIndex={-1}>
        <div className="shell-bar">
          <IconButton icon="menu" label={t.menu} aria-haspopup="dialog" onClick={() => setDrawer(true)} />
          <span className="grow brand-small">Chie</span>
          <LinkButton
            kind="quiet"
            icon="plus"
            className="icon-only"
            href={hrefTo("chat")}
            aria-label={chat.newChat}
            title={chat.newChat}
          />
        </div>
        {children}
      </main>
      {drawer && (
        <Modal className="drawer" label={t.menu} onClose={() => setDrawer(false)}>
          <Sidebar pages={pages} onPalette={showPalette} />
        </Modal>
      )}
      {palette && (
        <LazyDialog label={t.menu} onClose={() => setPalette(false)}>
          <Palette pages={pages} onClose={() => setPalette(false)} />
        </LazyDialog>
      )}
    </div>
  );
}

/** Ctrl or ⌘ + K: commands. Ctrl or ⌘ + Shift + O: a new chat. */
function useShortcuts(showPalette: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.isComposing || !(event.ctrlKey || event.metaKey)) return;
      const key = event.key.toLowerCase();
      if (key === "k" && !event.shiftKey) showPalette();
      else if (key !== "o" || !event.shiftKey) return;
      else if (!document.querySelector("dialog[open]")) go(hrefTo("chat"));
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}
