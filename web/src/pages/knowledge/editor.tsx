import { useState } from "react";
import { useMe } from "../../account/account";
import { useText } from "../../i18n/language";
import { Told } from "../../i18n/told";
import { Button } from "../../ui/button";
import { Dialog, DialogFoot } from "../../ui/dialog";
import { Failure } from "../../ui/feedback";
import { Field, TextArea, TextInput } from "../../ui/field";
import { Icon } from "../../ui/icon";
import { useToast } from "../../ui/toast";
import { NoteMarkdown } from "./markdown";
import { type Draft, type Note, notes, type Saved } from "./notes";
import { splitTags } from "./suggestions";
import { knowledgeText } from "./text";

/** For a new note without `note`; `onSaved` gets what the house stored. */
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
  // As it was opened: what the page learns of it meanwhile is somebody else's, and saving must not pass over it.
  const [note] = useState(current);
  const draft = {
    title: note?.title ?? "",
    tags: note?.tags ?? [],
    content: note?.content ?? "",
    private: note?.private ?? false,
  };
  return (
    <Dialog title={note ? t.editNote : t.newNote} wide onClose={onClose}>
      <DraftForm
        draft={draft}
        author={note?.user_id}
        onCancel={onClose}
        save={async (changed) => {
          const saved = await (note
            ? notes.change(note.id, changed, note.updated_at)
            : notes.create(changed));
          toast(saved.notice ? <Told text={saved.notice} /> : t.saved);
          onClose();
          onSaved?.(saved);
        }}
      />
    </Dialog>
  );
}

export function DraftForm({
  draft,
  author,
  save,
  onCancel,
}: {
  draft: Draft;
  /** Of a note that is there already. */
  author?: string;
  save: (draft: Draft) => Promise<void>;
  onCancel: () => void;
}) {
  const t = useText(knowledgeText);
  const [title, setTitle] = useState(draft.title);
  const [tags, setTags] = useState(draft.tags.join(", "));
  const [content, setContent] = useState(draft.content);
  const [hidden, setHidden] = useState(draft.private);
  const me = useMe();
  const mayHide = me?.authentication === "required" && (author === undefined || author === me.id);
  const [preview, setPreview] = useState(false);
  const [saving, setSaving] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);

  async function submit() {
    if (saving || !content.trim()) return;
    setSaving(true);
    setFailure(null);
    try {
      await save({ title: title.trim(), tags: splitTags(tags), content, private: hidden });
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
            onChange={(event) => setTitle(event.target.value)}
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
              onChange={(event) => setContent(event.target.value)}
            />
          </>
        )}
      </Field>
      <Field label={t.fieldTags} note={t.tagsNote}>
        {(control) => (
          <TextInput {...control} value={tags} onChange={(event) => setTags(event.target.value)} />
        )}
      </Field>
      {mayHide && (
        <label className="kn-private">
          <input type="checkbox" checked={hidden} onChange={(event) => setHidden(event.target.checked)} />
          <Icon name="lock" size={15} />
          <span>
            {t.private} <span className="muted small">{t.privateNote}</span>
          </span>
        </label>
      )}
      {failure !== null && <Failure error={failure} />}
      <DialogFoot>
        <Button onClick={onCancel}>{t.cancel}</Button>
        <Button kind="primary" type="submit" disabled={saving || !content.trim()}>
          {saving ? t.saving : t.save}
        </Button>
      </DialogFoot>
    </form>
  );
}
