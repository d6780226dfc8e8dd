import { useState } from "react";
import { ago } from "../../../i18n/dates";
import { useLanguage, useText } from "../../../i18n/language";
import { inboxText } from "../../../i18n/strings/inbox";
import { knowledgeText } from "../../../i18n/strings/knowledge";
import { noteText } from "../../../i18n/strings/note";
import { Button, LinkButton } from "../../../ui/button";
import { Skeletons } from "../../../ui/feedback";
import { Difference } from "../history/difference";
import { useAuthorName } from "../note/confirmation";
import { FlagNotice } from "../note/injection-warning";
import { NoteMarkdown } from "../note/note-markdown";
import { Questions, Signatures } from "../note/questions";
import { languageOf, useNote } from "../notes";
import { noteHref, type View, viewHref } from "../view-state";
import type { Proposal } from "./inbox";

export type Decision = "accept" | "edit" | "merge" | "reject";

/** One proposal with its buttons, and the similar notes compared with it. */
export function ProposalDetail({
  proposal,
  view,
  busy,
  decide,
}: {
  proposal: Proposal;
  view: View;
  busy: boolean;
  decide: (decision: Decision, into?: string) => void;
}) {
  const t = useText(inboxText);
  const common = useText(knowledgeText);
  const texts = useText(noteText);
  const language = useLanguage();
  const name = useAuthorName();
  const { note } = proposal;
  return (
    <article className="kn-detail" aria-label={note.title}>
      <LinkButton className="kn-back" kind="quiet" small icon="left" href={viewHref(view)}>
        {common.back}
      </LinkButton>
      <header className="kn-detail-head">
        <h2 lang={languageOf(note.title)}>{note.title}</h2>
      </header>
      <div className="row wrap">
        <Button
          small
          kind="primary"
          icon="check"
          disabled={busy}
          aria-keyshortcuts="a"
          onClick={() => decide("accept")}
        >
          {t.accept}
        </Button>
        <Button small icon="edit" disabled={busy} aria-keyshortcuts="e" onClick={() => decide("edit")}>
          {t.editAndAccept}
        </Button>
        <Button small icon="flow" disabled={busy} aria-keyshortcuts="m" onClick={() => decide("merge")}>
          {t.merge}
        </Button>
        <Button
          small
          kind="danger"
          icon="close"
          disabled={busy}
          aria-keyshortcuts="r"
          onClick={() => decide("reject")}
        >
          {t.reject}
        </Button>
      </div>
      <p className="muted small kn-about">
        {name(note.user_id)} · {texts[`origin_${note.origin}`]} · {ago(note.created_at, language)}
        {note.tags.map((tag) => ` #${tag}`)}
      </p>
      <FlagNotice flags={note.flags} />
      <NoteMarkdown>{note.content}</NoteMarkdown>
      <Questions questions={note.questions} />
      <Signatures signatures={note.signatures} />
      <SimilarNotes proposal={proposal} view={view} merge={(into) => decide("merge", into)} />
    </article>
  );
}

function SimilarNotes({
  proposal,
  view,
  merge,
}: {
  proposal: Proposal;
  view: View;
  merge: (into: string) => void;
}) {
  const t = useText(inboxText);
  return (
    <section className="kn-similar" aria-labelledby="kn-alike">
      <h3 id="kn-alike">{t.similarTo}</h3>
      {proposal.similar.length === 0 ? (
        <p className="muted small">{t.noSimilar}</p>
      ) : (
        <>
          <p className="muted small">{t.legend}</p>
          {proposal.similar.map(({ id }, index) => (
            <Compared key={id} id={id} proposal={proposal} view={view} open={index === 0} merge={merge} />
          ))}
        </>
      )}
    </section>
  );
}

/** An existing note that is similar; its comparison is loaded when it is opened. */
function Compared({
  id,
  proposal,
  view,
  open: initially,
  merge,
}: {
  id: string;
  proposal: Proposal;
  view: View;
  open: boolean;
  merge: (into: string) => void;
}) {
  const t = useText(inboxText);
  const common = useText(knowledgeText);
  const [open, setOpen] = useState(initially);
  const known = proposal.similar.find((similar) => similar.id === id);
  return (
    <details className="kn-compared" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span lang={languageOf(known?.title ?? "")}>{known?.title}</span>{" "}
        <span className="muted small">{common.score(Math.round((known?.score ?? 0) * 100))}</span>
      </summary>
      {open && <ComparedText id={id} content={proposal.note.content} />}
      <div className="row wrap">
        <Button small onClick={() => merge(id)}>
          {t.mergeIntoThis}
        </Button>
        <LinkButton small kind="quiet" href={noteHref(id, { ...view, inbox: false })}>
          {common.open}
        </LinkButton>
      </div>
    </details>
  );
}

function ComparedText({ id, content }: { id: string; content: string }) {
  const { data, error } = useNote(id);
  if (error) return null;
  return data ? <Difference before={data.content} after={content} /> : <Skeletons lines={2} />;
}
