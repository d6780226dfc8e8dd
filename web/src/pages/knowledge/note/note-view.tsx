import { useMemo, useState } from "react";
import { useMe } from "../../../account/account";
import { ApiError } from "../../../api";
import { ago, dateTime } from "../../../i18n/dates";
import { useLanguage, useText } from "../../../i18n/language";
import { historyText } from "../../../i18n/strings/history";
import { knowledgeText } from "../../../i18n/strings/knowledge";
import { noteText } from "../../../i18n/strings/note";
import { ErrorText } from "../../../i18n/translate";
import { go } from "../../../route";
import { Button, IconButton, LinkButton } from "../../../ui/button";
import { useCopy } from "../../../ui/clipboard";
import { ErrorNotice, Skeletons } from "../../../ui/feedback";
import { focusMain } from "../../../ui/focus";
import { Icon } from "../../../ui/icon";
import { Menu, MenuItem } from "../../../ui/menu";
import { useToast } from "../../../ui/toast";
import { Editor } from "../editing/editor";
import { HistoryDialog } from "../history/history-dialog";
import { MergeNotesDialog, ReplaceDialog, Superseded } from "../history/supersession";
import { languageOf, type Note, notes, useLinks, useNote, useSimilar } from "../notes";
import { SpaceBadge } from "../spaces/space-field";
import { TEAM } from "../spaces/spaces";
import { noteHref, type View, viewHref } from "../view-state";
import { AnchorFact, AnchorState } from "./anchor";
import { Confirmation, ProposalNotice, useAuthorName } from "./confirmation";
import { FlagNotice } from "./injection-warning";
import { NoteMarkdown } from "./note-markdown";
import { NoteSignatures, Questions } from "./questions";
import { Usefulness } from "./usefulness";

export function Detail({ id, view }: { id: string; view: View }) {
  const t = useText(knowledgeText);
  const { data: note, error, refetch } = useNote(id);
  return (
    <article className="kn-detail" aria-live="off">
      <LinkButton className="kn-back" kind="quiet" small icon="left" href={viewHref(view)}>
        {t.back}
      </LinkButton>
      {error && (!note || (error instanceof ApiError && error.status === 404)) ? (
        <ErrorNotice error={error} retry={() => refetch()} />
      ) : note ? (
        <Whole note={note} view={view} />
      ) : (
        <Skeletons lines={6} />
      )}
    </article>
  );
}

function Whole({ note, view }: { note: Note; view: View }) {
  const t = useText(knowledgeText);
  const toast = useToast();
  const copyText = useCopy();
  const [opened, setOpened] = useState<"editor" | "history" | "replace" | "merge" | null>(null);
  const close = () => setOpened(null);
  const versions = useText(historyText);
  const me = useMe();
  const canEdit = !me || me.admin || me.id === note.user_id;
  const [failure, setFailure] = useState<unknown>(null);

  async function remove() {
    setFailure(null);
    try {
      const deleted = await notes.delete(note);
      go(viewHref(view));
      focusMain();
      toast(t.deleted(deleted.title), {
        undo: () => {
          void notes.restore(deleted).then(
            () => {
              go(noteHref(deleted.id, view));
              toast(t.restored);
            },
            (error: unknown) => toast(<ErrorText error={error} />),
          );
        },
      });
    } catch (error) {
      setFailure(error);
    }
  }

  async function copy(text: string) {
    if (await copyText(text)) toast(t.copied);
  }

  return (
    <>
      <header className="kn-detail-head">
        <h2 lang={languageOf(note.title)}>{note.title}</h2>
        {canEdit && (
          <>
            <Button small icon="edit" onClick={() => setOpened("editor")}>
              {t.edit}
            </Button>
            <Button small kind="danger" icon="trash" onClick={remove}>
              {t.delete}
            </Button>
          </>
        )}
        <Menu align="end" trigger={<IconButton small icon="more" label={t.exchange} />}>
          <MenuItem icon="history" onSelect={() => setOpened("history")}>
            {versions.history}
          </MenuItem>
          {canEdit && (
            <>
              <MenuItem icon="refresh" onSelect={() => setOpened("replace")}>
                {versions.replace}
              </MenuItem>
              <MenuItem icon="book" onSelect={() => setOpened("merge")}>
                {versions.merge}
              </MenuItem>
            </>
          )}
          <MenuItem icon="copy" onSelect={() => void copy(note.content)}>
            {t.copyMarkdown}
          </MenuItem>
          <MenuItem icon="copy" onSelect={() => void copy(note.id)}>
            {t.copyId}
          </MenuItem>
        </Menu>
      </header>
      {failure !== null && <ErrorNotice error={failure} />}
      <About note={note} view={view} />
      <ProposalNotice note={note} view={view} />
      <Superseded note={note} view={view} />
      <FlagNotice flags={note.flags} />
      <LinkedText note={note} />
      <Questions questions={note.questions} />
      <NoteSignatures note={note} canEdit={canEdit} />
      <Backlinks id={note.id} view={view} />
      <Usefulness note={note} />
      <Similar id={note.id} view={view} />
      {opened === "editor" && <Editor note={note} onClose={close} />}
      {opened === "history" && <HistoryDialog note={note} canEdit={canEdit} onClose={close} />}
      {opened === "replace" && <ReplaceDialog note={note} view={view} onClose={close} />}
      {opened === "merge" && <MergeNotesDialog note={note} onClose={close} />}
    </>
  );
}

function About({ note, view }: { note: Note; view: View }) {
  const t = useText(knowledgeText);
  const language = useLanguage();
  const texts = useText(noteText);
  const name = useAuthorName();
  return (
    <div className="kn-about">
      {note.tags.length > 0 && (
        <div className="row wrap">
          {note.tags.map((tag) => (
            <a
              key={tag}
              className="kn-tag"
              lang={languageOf(tag)}
              href={viewHref({ ...view, q: "", tag, map: false })}
            >
              #{tag}
            </a>
          ))}
        </div>
      )}
      <dl className="kn-facts">
        <div>
          <dt>
            <Icon name={note.origin === "person" ? "chat" : "spark"} size={15} />
            <span className="hidden-text">{t.by}</span>
          </dt>
          <dd>
            {name(note.user_id)} <span className="muted">· {texts[`origin_${note.origin}`]}</span>
          </dd>
        </div>
        <div>
          <dt>
            <Icon name="history" size={15} />
            <span className="hidden-text">{t.updated}</span>
          </dt>
          <dd>
            <time dateTime={note.updated_at} title={dateTime(note.updated_at, language)}>
              {ago(note.updated_at, language)}
            </time>
            {note.created_at !== note.updated_at && (
              <span className="muted">
                {" "}
                · {t.created} {ago(note.created_at, language)}
              </span>
            )}
          </dd>
        </div>
        {note.space !== TEAM && (
          <div>
            <dd>
              <SpaceBadge space={note.space} />
            </dd>
          </div>
        )}
        {note.private && (
          <div>
            <dt>
              <Icon name="lock" size={15} />
            </dt>
            <dd>{t.private}</dd>
          </div>
        )}
        {note.source && (
          <div>
            <dt>
              <Icon name="link" size={15} />
              <span className="hidden-text">{t.source}</span>
            </dt>
            <dd>
              <Source text={note.source} />
            </dd>
          </div>
        )}
        {note.anchor && <AnchorFact anchor={note.anchor} />}
      </dl>
      <AnchorState note={note} />
      <Confirmation note={note} />
    </div>
  );
}

/** Only http(s) URLs become links; the field may hold any text. */
function Source({ text }: { text: string }) {
  if (!/^https?:\/\//.test(text)) return text;
  return (
    <a href={text} target="_blank" rel="noreferrer noopener">
      {text}
    </a>
  );
}

function Similar({ id, view }: { id: string; view: View }) {
  const t = useText(knowledgeText);
  const { data, error } = useSimilar(id);
  if (error) return null;
  return (
    <section className="kn-similar" aria-labelledby="kn-similar">
      <h3 id="kn-similar">{t.similar}</h3>
      {!data ? (
        <Skeletons lines={2} />
      ) : data.notes.length === 0 ? (
        <p className="muted small">{t.noSimilar}</p>
      ) : (
        <ul>
          {data.notes.map((note) => (
            <li key={note.id}>
              <a href={noteHref(note.id, view)} lang={languageOf(note.title)}>
                {note.title}
              </a>
              <span className="muted small kn-similar-score">{t.score(Math.round(note.score * 100))}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** The text of a note, with links to the notes that it names. */
function LinkedText({ note }: { note: Note }) {
  const { data } = useLinks(note.id);
  const links = useMemo(() => new Map(data?.links.map(({ target, id }) => [target, id])), [data]);
  return <NoteMarkdown links={links}>{note.content}</NoteMarkdown>;
}

/** The notes that link to this one. */
function Backlinks({ id, view }: { id: string; view: View }) {
  const t = useText(noteText);
  const { data } = useLinks(id);
  if (!data?.backlinks.length) return null;
  return (
    <section className="kn-similar" aria-labelledby="kn-backlinks">
      <h3 id="kn-backlinks">{t.linkedFrom}</h3>
      <ul>
        {data.backlinks.map((note) => (
          <li key={note.id}>
            <a href={noteHref(note.id, view)} lang={languageOf(note.title)}>
              {note.title}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
