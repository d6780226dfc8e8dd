import { type ComponentType, type LazyExoticComponent, lazy, useState } from "react";
import { useLanguage } from "../../i18n/language";
import { IconButton } from "../../ui/button";
import type { IconName } from "../../ui/icon";
import { LazyDialog } from "../../ui/lazy-dialog";

/** An action on a message, contributed by another page; its dialog is loaded when it is opened. */
export interface MessageAction {
  key: string;
  icon: IconName;
  label: { en: string; ja: string };
  dialog: LazyExoticComponent<ComponentType<{ text: string; onClose: () => void }>>;
}

export const MESSAGE_ACTIONS: MessageAction[] = [
  {
    key: "save",
    icon: "save",
    label: { en: "Save to knowledge", ja: "ナレッジに保存" },
    dialog: lazy(() => import("../knowledge/save-dialog")),
  },
];

export function MessageActions({ text }: { text: string }) {
  const language = useLanguage();
  const [open, setOpen] = useState<MessageAction | null>(null);
  return (
    <>
      {MESSAGE_ACTIONS.map((action) => (
        <IconButton
          key={action.key}
          small
          icon={action.icon}
          label={action.label[language]}
          onClick={() => setOpen(action)}
        />
      ))}
      {open && (
        <LazyDialog label={open.label[language]} onClose={() => setOpen(null)}>
          <open.dialog text={text} onClose={() => setOpen(null)} />
        </LazyDialog>
      )}
    </>
  );
}
