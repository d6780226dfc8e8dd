import "./knowledge.css";
import "./note.css";
import { useText } from "../../i18n/language";
import { Dialog } from "../../ui/dialog";
import { Skeletons } from "../../ui/feedback";
import { useToast } from "../../ui/toast";
import { DraftForm } from "./editor";
import { notes, useTags } from "./notes";
import { suggestTags, suggestTitle } from "./suggestions";
import { knowledgeText } from "./text";

/** "Save to knowledge" for any text of the chat: a title and tags are suggested, nothing is saved unseen. */
export default function SaveDialog({ text, onClose }: { text: string; onClose: () => void }) {
  const t = useText(knowledgeText);
  const toast = useToast();
  const { data, isPending } = useTags();
  const known = data?.tags.map((entry) => entry.tag) ?? [];
  return (
    <Dialog title={t.saveToKnowledge} wide onClose={onClose}>
      <p className="muted kn-dialog-lead">{t.saveLead}</p>
      {isPending ? (
        <Skeletons lines={4} />
      ) : (
        <DraftForm
          draft={{ title: suggestTitle(text), tags: suggestTags(text, known), content: text, private: false }}
          onCancel={onClose}
          save={async (draft) => {
            const saved = await notes.create({ ...draft, source: conversation() });
            onClose();
            toast(saved.similar[0] ? `${t.saved} ${t.alike} ${saved.similar[0].title}` : t.saved);
          }}
        />
      )}
    </Dialog>
  );
}

/** Where it was said, so that a reader of the note can go back there. */
function conversation(): string | undefined {
  return location.hash.startsWith("#/chat/") ? location.href : undefined;
}
