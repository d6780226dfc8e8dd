import { type ComponentType, createContext, type LazyExoticComponent } from "react";
import type { sessionsText } from "../i18n/strings/sessions";
import type { IconName } from "../ui/icon";
import type { Session } from "./client";

/** An item of a conversation's menu that a page contributes; its dialog is loaded when it is opened. */
export interface SessionAction {
  label: keyof Pick<typeof sessionsText.en, "share" | "moveToProject">;
  icon: IconName;
  dialog: LazyExoticComponent<ComponentType<{ session: Session; onClose: () => void }>>;
}

export const SessionActions = createContext<readonly SessionAction[]>([]);
