import type { ComponentType, LazyExoticComponent } from "react";
import type { shellText } from "../i18n/strings/shell";
import type { IconName } from "../ui/icon";
import { lazyPage } from "../ui/lazy";

/** The pages beside the chat. Each is loaded on first use and has the URL `#/<path>`. */
export interface PageEntry {
  path: string;
  label: keyof typeof shellText.en;
  icon: IconName;
  /** Shown in the sidebar. */
  listed: boolean;
  /** The listed page that it is reached from, which the sidebar marks instead. */
  within?: string;
  component: ComponentType | LazyExoticComponent<ComponentType>;
}

export const PAGES: PageEntry[] = [
  {
    path: "knowledge",
    label: "knowledge",
    icon: "book",
    listed: true,
    component: lazyPage(() => import("./knowledge")),
  },
  {
    path: "review",
    label: "review",
    icon: "check",
    listed: false,
    within: "knowledge",
    component: lazyPage(() => import("./review")),
  },
  {
    path: "projects",
    label: "projects",
    icon: "folder",
    listed: true,
    component: lazyPage(() => import("./projects")),
  },
  {
    path: "shared",
    label: "shared",
    icon: "link",
    listed: false,
    within: "projects",
    component: lazyPage(() => import("./shared")),
  },
  {
    path: "workflows",
    label: "workflows",
    icon: "flow",
    listed: true,
    component: lazyPage(() => import("./workflows")),
  },
  {
    path: "prompts",
    label: "prompts",
    icon: "spark",
    listed: true,
    component: lazyPage(() => import("./prompts")),
  },
  {
    path: "servers",
    label: "servers",
    icon: "plug",
    listed: true,
    component: lazyPage(() => import("./servers")),
  },
  {
    path: "settings",
    label: "settings",
    icon: "gear",
    listed: true,
    component: lazyPage(() => import("./settings")),
  },
  {
    path: "archive",
    label: "archive",
    icon: "archive",
    listed: false,
    component: lazyPage(() => import("./archive")),
  },
  {
    path: "usage",
    label: "usage",
    icon: "chart",
    listed: true,
    component: lazyPage(() => import("./usage")),
  },
  {
    path: "setup",
    label: "setup",
    icon: "spark",
    listed: false,
    component: lazyPage(() => import("./setup")),
  },
];
