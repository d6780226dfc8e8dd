import type { ComponentType, LazyExoticComponent } from "react";
import type { shellText } from "../i18n/shell";
import type { IconName } from "../ui/icon";
import { part } from "../ui/part";

/** Every page of the house. A page is loaded when somebody goes there; `#/<path>` is its address. */
export interface PageEntry {
  path: string;
  label: keyof typeof shellText.en;
  icon: IconName;
  /** Shown among the places to go. */
  listed: boolean;
  component: ComponentType | LazyExoticComponent<ComponentType>;
}

export const PAGES: PageEntry[] = [
  {
    path: "knowledge",
    label: "knowledge",
    icon: "book",
    listed: true,
    component: part(() => import("./knowledge")),
  },
  {
    path: "workflows",
    label: "workflows",
    icon: "flow",
    listed: true,
    component: part(() => import("./workflows")),
  },
  {
    path: "servers",
    label: "servers",
    icon: "plug",
    listed: true,
    component: part(() => import("./servers")),
  },
  { path: "setup", label: "setup", icon: "spark", listed: false, component: part(() => import("./setup")) },
];
