import { LANGUAGES, language, useText } from "../i18n/language";
import { accountText } from "../i18n/strings/account";
import { shellText } from "../i18n/strings/shell";
import { useStoredSetting } from "../stored-setting";
import { type Theme, theme } from "../theme";
import { IconButton } from "../ui/button";
import { Menu, MenuChoice, MenuItem, MenuLabel } from "../ui/menu";
import { signOut, useMe } from "./account";

const NAMES = { en: "English", ja: "日本語" };

export function LanguageMenu() {
  const t = useText(shellText);
  const chosen = useStoredSetting(language);
  return (
    <Menu trigger={<IconButton icon="globe" label={t.language} />}>
      <MenuLabel>{t.language}</MenuLabel>
      {LANGUAGES.map((one) => (
        <MenuChoice key={one} checked={one === chosen} onSelect={() => language.set(one)}>
          <span lang={one}>{NAMES[one]}</span>
        </MenuChoice>
      ))}
    </Menu>
  );
}

export function ThemeMenu() {
  const t = useText(shellText);
  const chosen = useStoredSetting(theme);
  const names: Record<Theme, string> = { auto: t.themeAuto, light: t.themeLight, dark: t.themeDark };
  return (
    <Menu trigger={<IconButton icon="contrast" label={t.theme} />}>
      <MenuLabel>{t.theme}</MenuLabel>
      {(Object.keys(names) as Theme[]).map((one) => (
        <MenuChoice key={one} checked={one === chosen} onSelect={() => theme.set(one)}>
          {names[one]}
        </MenuChoice>
      ))}
    </Menu>
  );
}

/** Shown only where authentication is required. */
export function AccountMenu() {
  const t = useText(accountText);
  const me = useMe();
  if (me?.authentication !== "required") return null;
  return (
    <Menu trigger={<IconButton icon="person" label={t.account(me.id)} />}>
      <MenuLabel>
        {t.account(me.id)}
        {me.admin && ` · ${t.admin}`}
      </MenuLabel>
      <MenuItem icon="leave" onSelect={() => void signOut()}>
        {t.signOut}
      </MenuItem>
    </Menu>
  );
}
