import "./knowledge.css";
import { useText } from "../../i18n/language";
import { go } from "../../route";
import { Dialog } from "../../ui/dialog";
import { useToast } from "../../ui/toast";
import { DraftForm } from "./editor";
import { notes, useTags } from "./notes";
import { noteHref } from "./place";
import { suggestTags, suggestTitle } from "./suggestions";
import { knowledgeText } from "./text";

/** "Save to knowledge" for any text of the chat: a title and tags are suggested, nothing is saved unseen. */
export function SaveDialog({
  content,
  source,
  onClose,
}: {
  content: string;
  /** Where it was said, such as the session's address. */
  source?: string;
  onClose: () => void;
}) {
  const t = useText(knowledgeText);
  const toast = useToast();
  const { data, isPending } = useTags();
  if (isPending) return null;
  const known = data?.tags.map((entry) => entry.tag) ?? [];
  return (
    <Dialog title={t.saveToKnowledge} wide onClose={onClose}>
      <p className="muted kn-dialog-lead">{t.saveLead}</p>
      <DraftForm
        draft={{ title: suggestTitle(content), tags: suggestTags(content, known), content }}
        onCancel={onClose}
        save={async (draft) => {
          const saved = await notes.create({ ...draft, source });
          onClose();
          toast(saved.similar[0] ? `${t.saved} ${t.alike} ${saved.similar[0].title}` : t.saved);
          void saved;
        }}
      />
    </Dialog>
  );
}

export function openNote(id: string): void {
  go(noteHref(id, { q: "", tag: null, map: false }));
}
