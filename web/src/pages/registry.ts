import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import type { SessionAction } from "../sessions/session-actions";
import type { PageEntry } from "../shell/page-entry";
import { lazyPage } from "../ui/lazy";

/** The pages beside the chat. Each is loaded on first use. */
interface LazyPage extends PageEntry {
  component: LazyExoticComponent<ComponentType>;
}

export const PAGES: LazyPage[] = [
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

/** What pages add to the menu of a conversation. */
export const SESSION_ACTIONS: SessionAction[] = [
  { label: "share", icon: "link", dialog: lazy(() => import("./shared/share-dialog")) },
  { label: "moveToProject", icon: "folder", dialog: lazy(() => import("./projects/move-dialog")) },
];
