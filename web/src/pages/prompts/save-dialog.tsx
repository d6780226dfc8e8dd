import { useText } from "../../i18n/language";
import { promptsText } from "../../i18n/strings/prompts";
import { PromptEditor } from "./editor";

/** "Save as prompt" of a question. */
export default function SaveDialog({ text, onClose }: { text: string; onClose: () => void }) {
  const t = useText(promptsText);
  const name = text.trim().split("\n", 1)[0]?.slice(0, 60) ?? "";
  return <PromptEditor title={t.create} prompt={{ name, text, shared: false }} onClose={onClose} />;
}
