import { useText } from "../i18n/language";
import { shellText } from "../i18n/shell";
import { PAGES } from "../pages/registry";
import { hrefTo, useRoute } from "../route";
import { Icon } from "../ui/icon";
import { LanguageMenu, ThemeMenu } from "./preferences";

export function Sidebar() {
  const t = useText(shellText);
  const { page } = useRoute();
  return (
    <div className="sidebar">
      <div className="sidebar-top">
        <a className="brand" href={hrefTo("chat")}>
          <img src="./icon.svg" alt="" />
          Chie <span lang="ja">知恵</span>
        </a>
        <nav aria-label={t.navigation}>
          <ul className="places">
            {PAGES.filter((entry) => entry.listed).map((entry) => (
              <li key={entry.path}>
                <a
                  className="place"
                  href={hrefTo(entry.path)}
                  aria-current={entry.path === page ? "page" : undefined}
                >
                  <Icon name={entry.icon} />
                  {t[entry.label]}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      </div>
      <div className="sidebar-sessions" />
      <div className="sidebar-foot">
        <LanguageMenu />
        <ThemeMenu />
      </div>
    </div>
  );
}
