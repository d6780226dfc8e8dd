import { useSyncExternalStore } from "react";
import { useStoredSetting } from "../stored-setting";
import { theme } from "../theme";

const DARK = "(prefers-color-scheme: dark)";

/** Whether the page is dark, by choice or as the system is. */
export function useDark(): boolean {
  const wanted = useStoredSetting(theme);
  const system = useSyncExternalStore(
    (changed) => {
      const query = matchMedia(DARK);
      query.addEventListener("change", changed);
      return () => query.removeEventListener("change", changed);
    },
    () => matchMedia(DARK).matches,
  );
  return wanted === "auto" ? system : wanted === "dark";
}
