import { type ComponentType, type LazyExoticComponent, lazy, useState } from "react";
import { useLanguage } from "../../../i18n/language";
import { IconButton } from "../../../ui/button";
import type { IconName } from "../../../ui/icon";
import { LazyDialog } from "../../../ui/lazy-dialog";

/** An action on a message, contributed by another page; its dialog is loaded when it is opened. */
export interface MessageAction {
  key: string;
  icon: IconName;
  label: { en: string; ja: string };
  /** Not on answers. */
  questionsOnly?: boolean;
  dialog: LazyExoticComponent<ComponentType<{ text: string; onClose: () => void }>>;
}

export const MESSAGE_ACTIONS: MessageAction[] = [
  {
    key: "save",
    icon: "save",
    label: { en: "Save to knowledge", ja: "ナレッジに保存" },
    dialog: lazy(() => import("../../knowledge/editing/save-dialog")),
  },
  {
    key: "prompt",
    icon: "spark",
    label: { en: "Save as prompt", ja: "プロンプトとして保存" },
    questionsOnly: true,
    dialog: lazy(() => import("../../prompts/save-dialog")),
  },
];

export function MessageActions({ text, question = false }: { text: string; question?: boolean }) {
  const language = useLanguage();
  const [open, setOpen] = useState<MessageAction | null>(null);
  return (
    <>
      {MESSAGE_ACTIONS.filter((action) => question || !action.questionsOnly).map((action) => (
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
