import { Stored } from "./stored";

export type Theme = "auto" | "light" | "dark";

export const theme = new Stored<Theme>("chie.theme", ["auto", "light", "dark"], "auto");

/** `theme.css` does the rest: every colour has both values. */
export function startTheme(): void {
  const apply = () => {
    document.documentElement.dataset.theme = theme.value;
  };
  apply();
  theme.subscribe(apply);
}
