import type { shellText } from "../i18n/strings/shell";
import type { IconName } from "../ui/icon";

/** A page as the sidebar and the palette show it. Its URL is `#/<path>`. */
export interface PageEntry {
  path: string;
  label: keyof typeof shellText.en;
  icon: IconName;
  /** Shown in the sidebar. */
  listed: boolean;
  /** The listed page that it is reached from, which the sidebar marks instead. */
  within?: string;
}
