import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { difference, type Part } from "../../../core/diff";
import { agentsQuery } from "../../agents/agents";
import { ago } from "../../i18n/dates";
import { useLanguage, useText } from "../../i18n/language";
import { reviewText } from "../../i18n/strings/review";
import { hrefTo } from "../../route";
import { Button, LinkButton } from "../../ui/button";
import { ErrorNotice, Notice } from "../../ui/feedback";
import { useAuthorName } from "../knowledge/note/confirmation";
import { FlagNotice } from "../knowledge/note/injection-warning";
import { languageOf, type Note } from "../knowledge/notes";
import { needsModel } from "../setup/setup";
import { type Action, askModel, type Finding, isPossible, type Opinion } from "./review";

/** Of two texts that share less than this, marking the differences would mark nearly everything. */
const MIN_SHARED = 0.5;

export function FindingCard({
  finding,
  busy,
  decide,
  openDraft,
}: {
  finding: Finding;
  busy: boolean;
  decide: (action: Action) => void;
  openDraft: (text: string) => void;
}) {
  const t = useText(reviewText);
  const pair = finding.notes.length === 2;
  return (
    <article className="card stack rv-finding" aria-labelledby="rv-reason">
      <header>
        <p className="muted small">{t[finding.kind]}</p>
        <h2 id="rv-reason">{useReason(finding)}</h2>
      </header>
      <Actions finding={finding} busy={busy} decide={decide} />
      {pair && !finding.may_change.every(Boolean) && <p className="muted small">{t.mayNot}</p>}
      {finding.notes.length > 0 && <Notes notes={finding.notes} />}
      {pair && <AskModel finding={finding} openDraft={openDraft} />}
    </article>
  );
}

function useReason({ reason: { code, params } }: Finding): string {
  const t = useText(reviewText);
  if (code === "number" || code === "version" || code === "name" || code === "negation" || code === "same")
    return t[code](params);
  if (code === "statement") return t.negation(params);
  if (code === "code_changed" || code === "code_gone") return t[code](params);
  return code === "stale"
    ? t.staleSince(params)
    : code === "orphaned"
      ? t.orphanedBy(params)
      : t.unansweredFor(params);
}

function Actions({
  finding,
  busy,
  decide,
}: {
  finding: Finding;
  busy: boolean;
  decide: (action: Action) => void;
}) {
  const t = useText(reviewText);
  const pair = finding.notes.length === 2;
  const props = (action: Action, key: string) => ({
    small: true,
    disabled: busy || !isPossible(finding, action),
    "aria-keyshortcuts": key,
    onClick: () => decide(action),
  });
  return (
    <div className="row wrap">
      {finding.notes.length > 0 && (
        <Button {...props("keep", "b")} icon="check">
          {pair ? t.keep : t.keepOne}
        </Button>
      )}
      {pair && (
        <>
          <Button {...props("merge", "m")} icon="flow">
            {t.merge}
          </Button>
          <Button {...props("supersede", "r")}>{t.supersede}</Button>
        </>
      )}
      {finding.notes.length > 0 && (
        <Button {...props("archive", "a")} kind="danger">
          {pair ? t.archive : t.archiveOne}
        </Button>
      )}
      {finding.kind === "unanswered" && (
        <LinkButton small icon="plus" href={hrefTo("knowledge")}>
          {t.write}
        </LinkButton>
      )}
      <Button {...props("dismiss", "n")} kind="quiet">
        {t.dismiss}
      </Button>
    </div>
  );
}

function Notes({ notes }: { notes: Note[] }) {
  const t = useText(reviewText);
  const [first, second] = notes;
  if (!first || !second) return <div className="rv-notes">{first && <OneNote note={first} />}</div>;
  const parts = difference(first.content, second.content);
  const marked = isWorthMarking(parts, first.content, second.content);
  return (
    <div className="rv-notes rv-pair">
      <OneNote note={first} label={t.older} parts={marked ? parts : undefined} />
      <OneNote note={second} label={t.newer} parts={marked ? parts : undefined} />
    </div>
  );
}

function isWorthMarking(parts: Part[], before: string, after: string): boolean {
  const shared = parts.reduce((sum, part) => sum + (part.kind === "same" ? part.text.length : 0), 0);
  return shared >= MIN_SHARED * Math.min(before.length, after.length);
}

function OneNote({ note, label, parts }: { note: Note; label?: string; parts?: Part[] }) {
  const t = useText(reviewText);
  const language = useLanguage();
  const name = useAuthorName();
  const mine = label === t.older ? "removed" : "added";
  return (
    <section className="rv-note" aria-label={note.title}>
      <h3 lang={languageOf(note.title)}>
        <a href={hrefTo("knowledge", note.id)}>{note.title}</a>
      </h3>
      <p className="muted small">
        {label && `${label} · `}
        {name(note.user_id)} · {ago(note.updated_at, language)}
      </p>
      <FlagNotice flags={note.flags} />
      <div className="rv-text" lang={languageOf(note.content)}>
        {parts
          ? parts
              .filter(({ kind }) => kind === "same" || kind === mine)
              .map(({ kind, text }, index) =>
                // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no identity
                kind === "same" ? <span key={index}>{text}</span> : <mark key={index}>{text}</mark>,
              )
          : note.content}
      </div>
    </section>
  );
}

/** The connected model is asked only when somebody presses the button. */
function AskModel({ finding, openDraft }: { finding: Finding; openDraft: (text: string) => void }) {
  const t = useText(reviewText);
  const [busy, setBusy] = useState(false);
  const [opinion, setOpinion] = useState<Opinion | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const agents = useQuery(agentsQuery).data?.agents;
  if (!agents?.some((agent) => agent.available && needsModel(agent))) return null;
  async function ask() {
    setBusy(true);
    setFailure(null);
    try {
      setOpinion(await askModel(finding.notes));
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  }
  return (
    <div className="stack rv-model">
      <div>
        <Button small icon="spark" title={t.askHint} disabled={busy} onClick={() => void ask()}>
          {busy ? t.asking : t.ask}
        </Button>
      </div>
      {failure !== null && <ErrorNotice error={failure} />}
      {opinion && (
        <Notice>
          <p>
            <strong>{t[`opinion_${opinion.verdict}`]}</strong> {opinion.reason}
          </p>
          {opinion.merged && isPossible(finding, "merge") && (
            <Button small onClick={() => openDraft(opinion.merged)}>
              {t.useDraft}
            </Button>
          )}
        </Notice>
      )}
    </div>
  );
}
