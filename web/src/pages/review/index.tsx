import "../knowledge/knowledge.css";
import "../knowledge/inbox/inbox.css";
import "./review.css";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useText } from "../../i18n/language";
import { reviewText } from "../../i18n/strings/review";
import { ErrorText } from "../../i18n/translate";
import { hrefTo, useRoute } from "../../route";
import { Button } from "../../ui/button";
import { Empty, ErrorNotice, Page, Skeletons } from "../../ui/feedback";
import { useToast } from "../../ui/toast";
import { FindingCard } from "./finding";
import { MergeDialog } from "./merge";
import {
  type Action,
  type Choice,
  type Finding,
  type Findings,
  isPossible,
  KINDS,
  type Kind,
  review,
  useFindings,
} from "./review";

export default function ReviewPage() {
  const t = useText(reviewText);
  const asked = useRoute().query.get("kind");
  const kind = KINDS.find((known) => known === asked) ?? null;
  const { data, error, refetch } = useFindings(kind);
  return (
    <Page title={t.title} lead={t.lead}>
      <div className="stack rv-page">
        {error && !data && <ErrorNotice error={error} retry={() => refetch()} />}
        {data ? (
          <>
            <Kinds counts={data.counts} kind={kind} />
            <p className="muted small" role="status">
              {data.pending > 0 && t.pending(data.pending)}
            </p>
            <Open data={data} />
          </>
        ) : (
          !error && <Skeletons lines={6} height="2.75rem" />
        )}
      </div>
    </Page>
  );
}

function Kinds({ counts, kind }: { counts: Findings["counts"]; kind: Kind | null }) {
  const t = useText(reviewText);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const here = hrefTo("review");
  return (
    <nav className="kn-tags" aria-label={t.kinds}>
      <a className="kn-tag" href={here} aria-current={kind === null ? "true" : undefined}>
        {t.all} <span className="kn-number">{total}</span>
      </a>
      {KINDS.filter((known) => counts[known] > 0 || known === kind).map((known) => (
        <a
          key={known}
          className="kn-tag"
          href={`${here}?kind=${known}`}
          aria-current={known === kind ? "true" : undefined}
        >
          {t[known]} <span className="kn-number">{counts[known]}</span>
        </a>
      ))}
    </nav>
  );
}

/** One finding at a time: a decision shows the one that follows. */
function Open({ data }: { data: Findings }) {
  const t = useText(reviewText);
  const { findings } = data;
  const [at, setAt] = useState(0);
  const [draft, setDraft] = useState<string | null | undefined>(undefined);
  const index = Math.min(at, Math.max(findings.length - 1, 0));
  const finding = findings[index];
  const { busy, run, undo } = useDecisions();
  const step = (by: number) => setAt(Math.min(Math.max(index + by, 0), findings.length - 1));
  function decide(action: Action, choice: Choice = {}) {
    if (!finding || busy || !isPossible(finding, action)) return;
    if (action === "merge" && choice.content === undefined) setDraft(null);
    else void run(finding, action, choice).then((done) => done && setDraft(undefined));
  }
  useKeys((key) => {
    if (key === "j") step(1);
    if (key === "k") step(-1);
    if (key === "u") undo();
    const action = ACTIONS[key];
    if (action) decide(action);
  });
  if (!finding)
    return (
      <Empty icon="check" title={t.empty}>
        {t.emptyHint}
      </Empty>
    );
  return (
    <>
      <div className="row wrap rv-steps">
        <span className="muted small">{t.position(index + 1, findings.length)}</span>
        <Button small icon="left" disabled={index === 0} aria-keyshortcuts="k" onClick={() => step(-1)}>
          {t.previous}
        </Button>
        <Button small disabled={index === findings.length - 1} aria-keyshortcuts="j" onClick={() => step(1)}>
          {t.next}
        </Button>
        <span className="muted small kn-keys">{t.keys}</span>
      </div>
      <FindingCard key={finding.id} finding={finding} busy={busy} decide={decide} openDraft={setDraft} />
      {draft !== undefined && (
        <MergeDialog
          finding={finding}
          draft={draft}
          onClose={() => setDraft(undefined)}
          merge={(read, content) =>
            run(read, "merge", { content }).then((done) => done && setDraft(undefined))
          }
        />
      )}
    </>
  );
}

/** Runs a decision and offers to undo it, in a toast and for the key u. */
function useDecisions() {
  const t = useText(reviewText);
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  const last = useRef<(() => void) | null>(null);
  const fail = (error: unknown) => toast(<ErrorText error={error} />);
  async function run(finding: Finding, action: Action, choice: Choice): Promise<boolean> {
    setBusy(true);
    try {
      const { id } = await review.decide(finding, action, choice);
      const undo = () => {
        if (last.current === undo) last.current = null;
        review.undo(id).then(() => toast(t.undone), fail);
      };
      last.current = undo;
      toast(t[`decided_${action}`], { undo });
      return true;
    } catch (error) {
      fail(error);
      return false;
    } finally {
      setBusy(false);
    }
  }
  return { busy, run, undo: () => last.current?.() };
}

const ACTIONS: Partial<Record<Key, Action>> = {
  b: "keep",
  m: "merge",
  r: "supersede",
  a: "archive",
  n: "dismiss",
};
const TYPING = "input, textarea, select, [contenteditable], [role=menu]";
type Key = "j" | "k" | "b" | "m" | "r" | "a" | "n" | "u";

/** Single letters, except in text fields, dialogs and menus, and with modifiers. */
function useKeys(pressed: (key: Key) => void): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const target = event.target instanceof Element ? event.target : document.body;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    if (target.closest(TYPING) || document.querySelector("dialog[open]")) return;
    if (!"jkbmranu".includes(event.key) || event.key.length !== 1) return;
    event.preventDefault(); // the letter would be typed into the dialog that it opens
    pressed(event.key as Key);
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => press(event);
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
}
