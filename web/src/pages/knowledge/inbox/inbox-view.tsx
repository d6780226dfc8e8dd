import "./inbox.css";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { ago } from "../../../i18n/dates";
import { useLanguage, useText } from "../../../i18n/language";
import { inboxText } from "../../../i18n/strings/inbox";
import { ErrorText } from "../../../i18n/translate";
import { go } from "../../../route";
import { Empty, ErrorNotice, Skeletons } from "../../../ui/feedback";
import { focusMain } from "../../../ui/focus";
import { useToast } from "../../../ui/toast";
import { draftOf, NoteDialog } from "../editing/editor";
import { useAuthorName } from "../note/confirmation";
import { languageOf, type Note } from "../notes";
import { noteHref, type View, viewHref } from "../view-state";
import { inbox, type Proposal, useInbox } from "./inbox";
import { MergeDialog } from "./merge-dialog";
import { type Decision, ProposalDetail } from "./proposal";

/** The proposals and the selected one: the one in the URL, else the first. */
export function InboxView({ view, current }: { view: View; current: string | null }) {
  const t = useText(inboxText);
  const { data, error, refetch } = useInbox();
  if (error && !data) return <ErrorNotice error={error} retry={() => refetch()} />;
  if (!data) return <Skeletons lines={6} height="2.75rem" />;
  return <Proposals proposals={data.proposals} view={view} current={current} label={t.waiting(data.total)} />;
}

interface Open {
  what: "edit" | "merge";
  proposal: Proposal;
  into: string | null;
}

function Proposals({
  proposals,
  view,
  current,
  label,
}: {
  proposals: Proposal[];
  view: View;
  current: string | null;
  label: string;
}) {
  const t = useText(inboxText);
  const [open, setOpen] = useState<Open | null>(null);
  const index = Math.max(
    proposals.findIndex(({ note }) => note.id === current),
    0,
  );
  const selected = proposals[index];
  const { busy, run, undo } = useDecisions();

  /** Selects what follows the decided proposal, if one was selected at all: on narrow screens the list is next. */
  function advance(decided: Proposal) {
    const next = proposals[index + 1] ?? proposals[index - 1];
    setOpen(null);
    if (current === decided.note.id)
      go(next ? noteHref(next.note.id, view) : viewHref(view), { replace: true });
    focusMain();
  }
  function decide(decision: Decision, into?: string) {
    if (!selected || busy) return;
    const { note } = selected;
    if (decision === "edit" || decision === "merge")
      setOpen({ what: decision, proposal: selected, into: into ?? null });
    else if (decision === "accept")
      void run(
        t.accepted(note.title),
        note,
        () => inbox.accept(note),
        () => advance(selected),
      );
    else
      void run(
        t.rejected(note.title),
        note,
        () => inbox.reject(note),
        () => advance(selected),
      );
  }
  useKeys((key) => {
    const step = key === "j" ? 1 : key === "k" ? -1 : 0;
    const target = proposals[index + step];
    if (step && target) go(noteHref(target.note.id, view), { replace: true });
    if (key === "a") decide("accept");
    if (key === "e") decide("edit");
    if (key === "m") decide("merge");
    if (key === "r") decide("reject");
    if (key === "u") undo();
  });

  if (!selected)
    return (
      <Empty icon="check" title={t.inboxEmpty}>
        {t.inboxEmptyHint}
      </Empty>
    );
  return (
    <div className={`kn-panes ${current ? "" : "kn-implied"}`}>
      <section className="kn-results" aria-label={t.proposals}>
        <p className="kn-count" role="status">
          {label}
        </p>
        <p className="muted small kn-keys">{t.keys}</p>
        <List proposals={proposals} selected={selected} view={view} />
      </section>
      <ProposalDetail key={selected.note.id} proposal={selected} view={view} busy={busy} decide={decide} />
      {open?.what === "edit" && (
        <NoteDialog
          title={t.editAndAccept}
          draftKey={open.proposal.note.id}
          draft={draftOf(open.proposal.note)}
          author={open.proposal.note.user_id}
          lockPrivate
          saveLabel={t.accept}
          onClose={() => setOpen(null)}
          save={async ({ private: _, space: __, ...edited }) => {
            const { note } = open.proposal;
            await inbox.accept(note, edited);
            return () =>
              void run(
                t.accepted(edited.title),
                note,
                async () => undefined,
                () => advance(open.proposal),
              );
          }}
        />
      )}
      {open?.what === "merge" && (
        <MergeDialog
          proposal={open.proposal}
          into={open.into}
          onClose={() => setOpen(null)}
          onMerged={(title) =>
            void run(
              t.merged(title),
              open.proposal.note,
              async () => undefined,
              () => advance(open.proposal),
            )
          }
        />
      )}
    </div>
  );
}

/** Runs a decision and offers to undo it, in a toast and for the key u. */
function useDecisions() {
  const t = useText(inboxText);
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  const last = useRef<(() => void) | null>(null);
  const fail = (error: unknown) => toast(<ErrorText error={error} />);
  async function run(text: string, note: Note, work: () => Promise<unknown>, done: () => void) {
    setBusy(true);
    try {
      await work();
      const undo = () => {
        if (last.current === undo) last.current = null;
        inbox.undo(note.id).then(() => toast(t.reopened), fail);
      };
      last.current = undo;
      toast(text, { undo });
      done();
    } catch (error) {
      fail(error);
    } finally {
      setBusy(false);
    }
  }
  return { busy, run, undo: () => last.current?.() };
}

const TYPING = "input, textarea, select, [contenteditable], [role=menu]";

/** Single letters, except in text fields, dialogs and menus, and with modifiers; arrows where the list has the focus. */
function useKeys(pressed: (key: string) => void): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const target = event.target instanceof Element ? event.target : document.body;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    if (target.closest(TYPING) || document.querySelector("dialog[open]")) return;
    const arrow = target.closest(".kn-list") && { ArrowDown: "j", ArrowUp: "k" }[event.key];
    if (arrow) event.preventDefault();
    const key = arrow || event.key;
    if (!"jkaemru".includes(key) || key.length !== 1) return;
    event.preventDefault(); // the letter would be typed into the dialog that it opens
    pressed(key);
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => press(event);
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
}

function List({ proposals, selected, view }: { proposals: Proposal[]; selected: Proposal; view: View }) {
  const language = useLanguage();
  const name = useAuthorName();
  return (
    <ul className="kn-list">
      {proposals.map(({ note }) => (
        <li key={note.id}>
          <a
            className="kn-item"
            data-note={note.id}
            href={noteHref(note.id, view)}
            aria-current={note.id === selected.note.id ? "true" : undefined}
          >
            <strong lang={languageOf(note.title)}>{note.title}</strong>
            <span className="kn-item-foot">
              {name(note.user_id)}
              <span className="kn-when">{ago(note.created_at, language)}</span>
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}
