import "../knowledge.css";
import "../note/note.css";
import { useText } from "../../../i18n/language";
import { knowledgeText } from "../../../i18n/strings/knowledge";
import { useToast } from "../../../ui/toast";
import { notes, useTags } from "../notes";
import { suggestTags, suggestTitle } from "./draft-suggestions";
import { EMPTY, NoteDialog } from "./editor";

/** "Save to knowledge" for a message: suggests a title and tags, and saves after a review. */
export default function SaveDialog({ text, onClose }: { text: string; onClose: () => void }) {
  const t = useText(knowledgeText);
  const toast = useToast();
  const { data, isPending } = useTags();
  const known = data?.tags.map((entry) => entry.tag) ?? [];
  const draft = {
    ...EMPTY,
    title: suggestTitle(text),
    tags: suggestTags(text, known),
    content: text,
  };
  return (
    <NoteDialog
      title={t.saveToKnowledge}
      lead={t.saveLead}
      draftKey={`message.${fingerprint(text)}`}
      draft={isPending ? null : draft}
      onClose={onClose}
      save={async (written) => {
        const saved = await notes.create({ ...written, source: conversationUrl() });
        toast(saved.similar[0] ? `${t.saved} ${t.alike} ${saved.similar[0].title}` : t.saved);
        return () => undefined;
      }}
    />
  );
}

/** Identifies a message by its text, because its id changes once the server has stored it. */
function fingerprint(text: string): string {
  let sum = 0;
  for (const letter of text) sum = (Math.imul(sum, 31) + (letter.codePointAt(0) ?? 0)) | 0;
  return (sum >>> 0).toString(36);
}

/** The conversation's URL, as the note's source. */
function conversationUrl(): string | undefined {
  return location.hash.startsWith("#/chat/") ? location.href : undefined;
}
