import { useText } from "../../i18n/language";
import { PromptEditor } from "./editor";
import { promptsText } from "./text";

/** "Save as prompt" of a question. */
export default function SaveDialog({ text, onClose }: { text: string; onClose: () => void }) {
  const t = useText(promptsText);
  const name = text.trim().split("\n", 1)[0]?.slice(0, 60) ?? "";
  return <PromptEditor title={t.create} prompt={{ name, text, shared: false }} onClose={onClose} />;
}
