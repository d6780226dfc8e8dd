import { AccountMenu, LanguageMenu, ThemeMenu } from "../account/menus";
import { useText } from "../i18n/language";
import { chatText } from "../i18n/strings/chat";
import { sessionsText } from "../i18n/strings/sessions";
import { shellText } from "../i18n/strings/shell";
import { hrefTo, useRoute } from "../route";
import { SessionList } from "../sessions/session-list";
import { IconButton, LinkButton } from "../ui/button";
import { Icon } from "../ui/icon";
import type { PageEntry } from "./page-entry";

export function Sidebar({ pages, onPalette }: { pages: readonly PageEntry[]; onPalette: () => void }) {
  const t = useText(shellText);
  const chat = useText(chatText);
  const sessions = useText(sessionsText);
  const { page } = useRoute();
  const within = pages.find((entry) => entry.path === page)?.within;
  return (
    <aside className="sidebar" aria-label={t.menu}>
      <div className="sidebar-top">
        <a className="brand" href={hrefTo("chat")}>
          <img src="./icon.svg" alt="" />
          Chie <span lang="ja">知恵</span>
        </a>
        <LinkButton icon="plus" href={hrefTo("chat")} className="new-chat">
          {chat.newChat}
        </LinkButton>
        <nav aria-label={t.navigation}>
          <ul className="nav-list">
            {pages
              .filter((entry) => entry.listed)
              .map((entry) => (
                <li key={entry.path}>
                  <a
                    className="nav-link"
                    href={hrefTo(entry.path)}
                    aria-current={entry.path === page ? "page" : entry.path === within ? "true" : undefined}
                  >
                    <Icon name={entry.icon} />
                    {t[entry.label]}
                  </a>
                </li>
              ))}
          </ul>
        </nav>
      </div>
      <section className="sidebar-sessions" aria-label={sessions.sessions}>
        <SessionList />
      </section>
      <div className="sidebar-foot">
        <LanguageMenu />
        <ThemeMenu />
        <AccountMenu />
        <span className="grow" />
        <IconButton icon="search" label={`${sessions.shortcuts} (Ctrl K)`} onClick={onPalette} />
      </div>
    </aside>
  );
}
