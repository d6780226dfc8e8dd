import { StoredSetting } from "./stored-setting";

export type Theme = "auto" | "light" | "dark";

export const theme = new StoredSetting<Theme>("chie.theme", ["auto", "light", "dark"], "auto");

/** `theme.css` has both values of every colour. */
export function startTheme(): void {
  const apply = () => {
    document.documentElement.dataset.theme = theme.value;
  };
  apply();
  theme.subscribe(apply);
}
