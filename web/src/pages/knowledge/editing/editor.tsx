import { useState } from "react";
import { messageIn } from "../../../../core/server-message";
import { drafts } from "../../../drafts";
import { useText } from "../../../i18n/language";
import { knowledgeText } from "../../../i18n/strings/knowledge";
import { Translated } from "../../../i18n/translate";
import { Button } from "../../../ui/button";
import { Dialog, DialogFoot } from "../../../ui/dialog";
import { Skeletons } from "../../../ui/feedback";
import { useToast } from "../../../ui/toast";
import { type Draft, type Note, notes, type Saved } from "../notes";
import { DraftForm } from "./note-form";

/** Edits `note`, or a new one; `onSaved` receives the server's response. */
export function Editor({
  note: current,
  space,
  onClose,
  onSaved,
}: {
  note?: Note;
  /** Of a new note. */
  space?: string;
  onClose: () => void;
  onSaved?: (saved: Saved) => void;
}) {
  const t = useText(knowledgeText);
  const toast = useToast();
  // As it was opened: a refetch may bring another person's change, which saving must not overwrite.
  const [note] = useState(current);
  return (
    <NoteDialog
      title={note ? t.editNote : t.newNote}
      draftKey={note?.id ?? "new"}
      draft={note ? draftOf(note) : { ...EMPTY, ...(space && { space }) }}
      seen={note?.updated_at}
      author={note?.user_id}
      onClose={onClose}
      save={async (changed, seen) => {
        const saved = await (note && seen ? notes.change(note.id, changed, seen) : notes.create(changed));
        toast(saved.notice ? <Translated message={messageIn(saved, "notice")} /> : t.saved);
        return () => onSaved?.(saved);
      }}
    />
  );
}

export const EMPTY: Draft = { title: "", tags: [], content: "", private: false, questions: [], errors: [] };

export function draftOf(note: Note): Draft {
  const { title, tags, content, questions, signatures } = note;
  return { title, tags, content, space: note.space, private: note.private, questions, errors: signatures };
}

/** The note form. Unsaved text survives a sign-in or a reload, and is discarded only after a confirmation. */
export function NoteDialog({
  title,
  lead,
  draftKey,
  draft,
  seen,
  author,
  lockPrivate,
  save,
  saveLabel,
  onClose,
}: {
  title: string;
  lead?: string;
  /** The unsaved text is kept under this key. */
  draftKey: string;
  /** The initial values; null until they are known. */
  draft: Draft | null;
  /** `updated_at` of the note as it was opened. */
  seen?: string;
  author?: string;
  /** Who sees the note stays as it is. */
  lockPrivate?: boolean;
  /** Resolves with a callback to run once the dialog is closed. */
  save: (draft: Draft, seen?: string) => Promise<() => void>;
  saveLabel?: string;
  onClose: () => void;
}) {
  const key = `note.${draftKey}`;
  const [asking, setAsking] = useState(false);
  const close = () => (drafts.read(key) ? setAsking(true) : onClose());
  const forget = () => {
    drafts.write(key, "");
    onClose();
  };
  return (
    <Dialog title={title} wide onClose={close}>
      {lead && <p className="muted kn-dialog-lead">{lead}</p>}
      {draft ? (
        <DraftForm
          draftKey={key}
          draft={draft}
          seen={seen}
          author={author}
          lockPrivate={lockPrivate}
          saveLabel={saveLabel}
          onCancel={close}
          save={async (written, since) => {
            const done = await save(written, since);
            forget();
            done();
          }}
          question={asking && <ConfirmDiscard onDiscard={forget} onKeep={() => setAsking(false)} />}
        />
      ) : (
        <Skeletons lines={4} />
      )}
    </Dialog>
  );
}

function ConfirmDiscard({ onDiscard, onKeep }: { onDiscard: () => void; onKeep: () => void }) {
  const t = useText(knowledgeText);
  return (
    <DialogFoot>
      <strong className="grow" role="alert">
        {t.discard}
      </strong>
      <Button kind="danger" onClick={onDiscard}>
        {t.doDiscard}
      </Button>
      <Button autoFocus onClick={onKeep}>
        {t.keepWriting}
      </Button>
    </DialogFoot>
  );
}
