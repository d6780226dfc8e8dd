import { type ReactNode, useEffect, useState } from "react";
import { useMe } from "../../../account/account";
import { drafts } from "../../../drafts";
import { useText } from "../../../i18n/language";
import { knowledgeText } from "../../../i18n/strings/knowledge";
import { noteText } from "../../../i18n/strings/note";
import { Button } from "../../../ui/button";
import { DialogFoot } from "../../../ui/dialog";
import { ErrorNotice } from "../../../ui/feedback";
import { Field, TextArea, TextInput } from "../../../ui/field";
import { Form, useSaving } from "../../../ui/form";
import { Icon } from "../../../ui/icon";
import { NoteMarkdown } from "../note/note-markdown";
import type { Draft } from "../notes";
import { SpaceField } from "../spaces/space-field";
import { TEAM } from "../spaces/spaces";
import { splitTags } from "./draft-suggestions";
import { isSecretFound, SecretWarning } from "./secret-warning";
import { SuggestQuestions } from "./suggest-questions";

interface Fields {
  title: string;
  tags: string;
  content: string;
  space: string;
  private: boolean;
  /** One per line. */
  questions: string;
  errors: string;
  seen?: string;
}

/** The unsaved text if there is any, else the initial values. */
function useForm(key: string, draft: Draft, seen?: string): [Fields, (part: Partial<Fields>) => void] {
  const [initial] = useState(() => ({
    title: draft.title,
    tags: draft.tags.join(", "),
    content: draft.content,
    space: draft.space ?? "",
    private: draft.private,
    questions: draft.questions.join("\n"),
    errors: draft.errors.join("\n"),
    seen,
  }));
  const [form, setForm] = useState<Fields>(() => ({ ...initial, ...unsaved(key) }));
  useEffect(() => () => drafts.release(key), [key]);
  const change = (part: Partial<Fields>) => {
    const next = { ...form, ...part };
    setForm(next);
    const [before, after] = [JSON.stringify(initial), JSON.stringify(next)];
    drafts.type(key, before === after ? "" : after);
  };
  return [form, change];
}

function unsaved(key: string): Partial<Fields> {
  try {
    return JSON.parse(drafts.read(key) || "{}") as Partial<Fields>;
  } catch {
    return {};
  }
}

function filledLines(text: string): string[] {
  return text.split("\n").filter((line) => line.trim());
}

/** The fields of a note and the buttons below them. */
export function DraftForm({
  draftKey,
  draft,
  seen,
  author,
  lockPrivate,
  save,
  saveLabel,
  onCancel,
  question,
}: {
  draftKey: string;
  draft: Draft;
  seen?: string;
  /** The author of an existing note. */
  author?: string;
  lockPrivate?: boolean;
  save: (draft: Draft, seen?: string) => Promise<void>;
  saveLabel?: string;
  onCancel: () => void;
  /** Replaces the buttons. */
  question: ReactNode;
}) {
  const t = useText(knowledgeText);
  const memory = useText(noteText);
  const [form, change] = useForm(draftKey, draft, seen);
  const { title, tags, content } = form;
  const me = useMe();
  const isAuthor = author === undefined || author === me?.id;
  const canBePrivate = me?.authentication === "required" && isAuthor && !lockPrivate;
  const [preview, setPreview] = useState(false);
  const { saving, failure, run } = useSaving();

  function submit(secrets?: Draft["secrets"]) {
    if (!content.trim()) return;
    const written = {
      title: title.trim(),
      tags: splitTags(tags),
      content,
      ...(form.space && { space: form.space }),
      private: form.private,
      questions: filledLines(form.questions),
      errors: filledLines(form.errors),
    };
    void run(() => save(secrets ? { ...written, secrets } : written, form.seen));
  }

  return (
    <Form submit={() => submit()}>
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
      <Field label={memory.questions} note={memory.questionsNote}>
        {(control) => (
          <TextArea
            {...control}
            rows={3}
            value={form.questions}
            onChange={(event) => change({ questions: event.target.value })}
          />
        )}
      </Field>
      <SuggestQuestions
        title={title}
        content={content}
        add={(found) =>
          change({ questions: [...new Set([...filledLines(form.questions), ...found])].join("\n") })
        }
      />
      <Field label={memory.errors} note={memory.errorsNote}>
        {(control) => (
          <TextArea
            {...control}
            className="kn-content"
            rows={2}
            value={form.errors}
            onChange={(event) => change({ errors: event.target.value })}
          />
        )}
      </Field>
      {!lockPrivate && isAuthor && (
        <SpaceField value={form.space || TEAM} onChange={(space) => change({ space })} />
      )}
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
        <SecretWarning error={failure} saving={saving} save={submit} />
      ) : (
        failure !== null && <ErrorNotice error={failure} />
      )}
      {question || (
        <DialogFoot onCancel={onCancel}>
          <Button kind="primary" type="submit" disabled={saving || !content.trim()}>
            {saving ? t.saving : (saveLabel ?? t.save)}
          </Button>
        </DialogFoot>
      )}
    </Form>
  );
}
