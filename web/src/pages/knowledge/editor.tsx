import { type ReactNode, useEffect, useState } from "react";
import { messageIn } from "../../../core/server-message";
import { useMe } from "../../account/account";
import { drafts } from "../../drafts";
import { useText } from "../../i18n/language";
import { Translated } from "../../i18n/translate";
import { Button } from "../../ui/button";
import { Dialog, DialogFoot } from "../../ui/dialog";
import { ErrorNotice, Skeletons } from "../../ui/feedback";
import { Field, TextArea, TextInput } from "../../ui/field";
import { Icon } from "../../ui/icon";
import { useToast } from "../../ui/toast";
import { NoteMarkdown } from "./markdown";
import { type Draft, type Note, notes, type Saved } from "./notes";
import { isSecretFound, SecretWarning } from "./secret-warning";
import { splitTags } from "./suggestions";
import { knowledgeText } from "./text";

/** Edits `note`, or a new one; `onSaved` receives the server's response. */
export function Editor({
  note: current,
  onClose,
  onSaved,
}: {
  note?: Note;
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
      draft={note ?? EMPTY}
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

const EMPTY: Draft = { title: "", tags: [], content: "", private: false };

/** The note form. Unsaved text survives a sign-in or a reload, and is discarded only after a confirmation. */
export function NoteDialog({
  title,
  lead,
  draftKey,
  draft,
  seen,
  author,
  save,
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
  /** Resolves with a callback to run once the dialog is closed. */
  save: (draft: Draft, seen?: string) => Promise<() => void>;
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

interface Form {
  title: string;
  tags: string;
  content: string;
  private: boolean;
  seen?: string;
}

/** The unsaved text if there is any, else the initial values. */
function useForm(key: string, draft: Draft, seen?: string): [Form, (part: Partial<Form>) => void] {
  const [initial] = useState(() => ({
    title: draft.title,
    tags: draft.tags.join(", "),
    content: draft.content,
    private: draft.private,
    seen,
  }));
  const [form, setForm] = useState<Form>(() => ({ ...initial, ...unsaved(key) }));
  useEffect(() => () => drafts.release(key), [key]);
  const change = (part: Partial<Form>) => {
    const next = { ...form, ...part };
    setForm(next);
    const [before, after] = [JSON.stringify(initial), JSON.stringify(next)];
    drafts.type(key, before === after ? "" : after);
  };
  return [form, change];
}

function unsaved(key: string): Partial<Form> {
  try {
    return JSON.parse(drafts.read(key) || "{}") as Partial<Form>;
  } catch {
    return {};
  }
}

function DraftForm({
  draftKey,
  draft,
  seen,
  author,
  save,
  onCancel,
  question,
}: {
  draftKey: string;
  draft: Draft;
  seen?: string;
  /** The author of an existing note. */
  author?: string;
  save: (draft: Draft, seen?: string) => Promise<void>;
  onCancel: () => void;
  /** Replaces the buttons. */
  question: ReactNode;
}) {
  const t = useText(knowledgeText);
  const [form, change] = useForm(draftKey, draft, seen);
  const { title, tags, content } = form;
  const me = useMe();
  const canBePrivate = me?.authentication === "required" && (author === undefined || author === me.id);
  const [preview, setPreview] = useState(false);
  const [saving, setSaving] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);

  async function submit(secrets?: Draft["secrets"]) {
    if (saving || !content.trim()) return;
    setSaving(true);
    setFailure(null);
    try {
      const written = { title: title.trim(), tags: splitTags(tags), content, private: form.private };
      await save(secrets ? { ...written, secrets } : written, form.seen);
    } catch (error) {
      setFailure(error);
      setSaving(false);
    }
  }

  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.nativeEvent.isComposing)
          void submit();
      }}
    >
      <Field label={t.fieldTitle} note={t.titleNote}>
        {(control) => (
          <TextInput
            {...control}
            value={title}
            maxLength={300}
            onChange={(event) => change({ title: event.target.value })}
          />
        )}
      </Field>
      <Field label={t.fieldContent} note={t.contentNote}>
        {(control) => (
          <>
            <fieldset className="kn-modes" aria-label={t.fieldContent}>
              <Button small kind="quiet" aria-pressed={!preview} onClick={() => setPreview(false)}>
                {t.write}
              </Button>
              <Button small kind="quiet" aria-pressed={preview} onClick={() => setPreview(true)}>
                {t.preview}
              </Button>
            </fieldset>
            {preview && (
              <div className="kn-preview">
                {content.trim() ? (
                  <NoteMarkdown>{content}</NoteMarkdown>
                ) : (
                  <p className="muted">{t.nothingToPreview}</p>
                )}
              </div>
            )}
            <TextArea
              {...control}
              hidden={preview}
              data-autofocus
              className="kn-content"
              rows={9}
              required
              value={content}
              onChange={(event) => change({ content: event.target.value })}
            />
          </>
        )}
      </Field>
      <Field label={t.fieldTags} note={t.tagsNote}>
        {(control) => (
          <TextInput {...control} value={tags} onChange={(event) => change({ tags: event.target.value })} />
        )}
      </Field>
      {canBePrivate && (
        <label className="kn-private">
          <input
            type="checkbox"
            checked={form.private}
            onChange={(event) => change({ private: event.target.checked })}
          />
          <Icon name="lock" size={15} />
          <span>
            {t.private} <span className="muted small">{t.privateNote}</span>
          </span>
        </label>
      )}
      {isSecretFound(failure) ? (
        <SecretWarning error={failure} saving={saving} save={(secrets) => void submit(secrets)} />
      ) : (
        failure !== null && <ErrorNotice error={failure} />
      )}
      {question || (
        <DialogFoot>
          <Button onClick={onCancel}>{t.cancel}</Button>
          <Button kind="primary" type="submit" disabled={saving || !content.trim()}>
            {saving ? t.saving : t.save}
          </Button>
        </DialogFoot>
      )}
    </form>
  );
}
