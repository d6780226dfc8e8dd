import { useState } from "react";
import { useText } from "../../../i18n/language";
import { historyText } from "../../../i18n/strings/history";
import { knowledgeText } from "../../../i18n/strings/knowledge";
import { go } from "../../../route";
import { Dialog } from "../../../ui/dialog";
import { Notice } from "../../../ui/feedback";
import { useToast } from "../../../ui/toast";
import { draftOf, NoteDialog } from "../editing/editor";
import { MergeForm, Targets } from "../inbox/merge-dialog";
import { type Hit, languageOf, type Note } from "../notes";
import { noteHref, type View } from "../view-state";
import { history } from "./history";

/** Links to the notes that replace this one, and to those that it replaces. */
export function Superseded({ note, view }: { note: Note; view: View }) {
  const t = useText(historyText);
  return (
    <>
      {note.superseded_by && (
        <Notice kind="warn">
          <span>
            {t.supersededBy} <Links notes={note.superseded_by} view={view} />
          </span>
        </Notice>
      )}
      {note.replaces && (
        <p className="muted small">
          {t.replaces} <Links notes={note.replaces} view={view} />
        </p>
      )}
    </>
  );
}

function Links({ notes, view }: { notes: { id: string; title: string }[]; view: View }) {
  return notes.map(({ id, title }, index) => (
    <span key={id}>
      {index > 0 && ", "}
      <a href={noteHref(id, view)} lang={languageOf(title)}>
        {title}
      </a>
    </span>
  ));
}

/** In a list of hits. */
export function SupersededBadge({ hit }: { hit: Hit }) {
  const t = useText(historyText);
  const newer = hit.superseded_by?.[0];
  if (!newer) return null;
  return (
    <span className="tag" title={`${t.supersededBy} ${newer.title}`}>
      {t.isSuperseded}
    </span>
  );
}

/** Write a new note that supersedes `note`. */
export function ReplaceDialog({ note, view, onClose }: { note: Note; view: View; onClose: () => void }) {
  const t = useText(historyText);
  const common = useText(knowledgeText);
  const toast = useToast();
  return (
    <NoteDialog
      title={t.replaceTitle}
      lead={t.replaceLead}
      draftKey={`replace.${note.id}`}
      draft={draftOf(note)}
      saveLabel={t.doReplace}
      onClose={onClose}
      save={async (draft) => {
        const saved = await history.replace(note.id, draft);
        toast(common.saved);
        return () => go(noteHref(saved.id, view));
      }}
    />
  );
}

/** Choose another note, edit the merged text, and let `note` supersede the other. */
export function MergeNotesDialog({ note, onClose }: { note: Note; onClose: () => void }) {
  const t = useText(historyText);
  const toast = useToast();
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <Dialog title={t.mergeTitle} wide onClose={onClose}>
      <div className="stack">
        <p className="muted">{t.mergeLead}</p>
        <Targets title={note.title} without={note.id} chosen={chosen} choose={setChosen} />
        {chosen && (
          <MergeForm
            key={chosen}
            text={(other) => [note.content, other.content]}
            into={chosen}
            focus={false}
            onClose={onClose}
            merge={async (other, content) => {
              await history.merge(note, other, content);
              onClose();
              toast(t.merged(other.title));
            }}
          />
        )}
      </div>
    </Dialog>
  );
}
