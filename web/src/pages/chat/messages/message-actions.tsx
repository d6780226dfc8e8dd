import { type ComponentType, type LazyExoticComponent, lazy, useState } from "react";
import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { IconButton } from "../../../ui/button";
import type { IconName } from "../../../ui/icon";
import { LazyDialog } from "../../../ui/lazy-dialog";

/** An action on a message, contributed by another page; its dialog is loaded when it is opened. */
interface MessageAction {
  label: keyof Pick<typeof chatText.en, "saveToKnowledge" | "saveAsPrompt">;
  icon: IconName;
  /** Not on answers. */
  questionsOnly?: boolean;
  dialog: LazyExoticComponent<ComponentType<{ text: string; onClose: () => void }>>;
}

const MESSAGE_ACTIONS: MessageAction[] = [
  {
    label: "saveToKnowledge",
    icon: "save",
    dialog: lazy(() => import("../../knowledge/editing/save-dialog")),
  },
  {
    label: "saveAsPrompt",
    icon: "spark",
    questionsOnly: true,
    dialog: lazy(() => import("../../prompts/save-dialog")),
  },
];

export function MessageActions({ text, question = false }: { text: string; question?: boolean }) {
  const t = useText(chatText);
  const [open, setOpen] = useState<MessageAction | null>(null);
  return (
    <>
      {MESSAGE_ACTIONS.filter((action) => question || !action.questionsOnly).map((action) => (
        <IconButton
          key={action.label}
          small
          icon={action.icon}
          label={t[action.label]}
          onClick={() => setOpen(action)}
        />
      ))}
      {open && (
        <LazyDialog label={t[open.label]} onClose={() => setOpen(null)}>
          <open.dialog text={text} onClose={() => setOpen(null)} />
        </LazyDialog>
      )}
    </>
  );
}
