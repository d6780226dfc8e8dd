import { LANGUAGES, language, useText } from "../i18n/language";
import { shellText } from "../i18n/strings/shell";
import { useStoredSetting } from "../stored-setting";
import { type Theme, theme } from "../theme";
import { IconButton } from "../ui/button";
import { Menu, MenuChoice, MenuLabel } from "../ui/menu";

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
