/** Who has confirmed a note, and whether it still waits in the inbox. */
import { useState } from "react";
import { ago, dateTime } from "../../../i18n/dates";
import { useLanguage, useText } from "../../../i18n/language";
import { noteText } from "../../../i18n/strings/note";
import { ErrorText } from "../../../i18n/translate";
import { Button, LinkButton } from "../../../ui/button";
import { Notice } from "../../../ui/feedback";
import { Icon } from "../../../ui/icon";
import { useToast } from "../../../ui/toast";
import { inbox } from "../inbox/inbox";
import type { Hit, Note } from "../notes";
import { noteHref, type View } from "../view-state";

export function useAuthorName(): (id: string) => string {
  const t = useText(noteText);
  return (id) => (id === "anonymous" ? t.anonymous : id);
}

/** Who has confirmed the note and when, with a button to do so or to take it back. */
export function Confirmation({ note }: { note: Note }) {
  const t = useText(noteText);
  const language = useLanguage();
  const name = useAuthorName();
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  if (note.proposal) return null;
  async function decide() {
    setBusy(true);
    try {
      await (note.confirmed_by ? inbox.withdraw(note) : inbox.confirm(note));
    } catch (error) {
      toast(<ErrorText error={error} />);
    } finally {
      setBusy(false);
    }
  }
  return (
    <div className="row wrap kn-confirmation">
      {note.confirmed_by ? (
        <span className="kn-confirmed">
          <Icon name="check" size={15} /> {t.confirmedBy(name(note.confirmed_by))}
          {note.confirmed_at && (
            <time
              className="muted"
              dateTime={note.confirmed_at}
              title={dateTime(note.confirmed_at, language)}
            >
              {" · "}
              {ago(note.confirmed_at, language)}
            </time>
          )}
        </span>
      ) : (
        <span className="kn-flagged" title={t.unconfirmedHint}>
          <Icon name="info" size={15} /> {t.unconfirmed}
        </span>
      )}
      <Button
        small
        kind={note.confirmed_by ? "quiet" : "plain"}
        disabled={busy}
        onClick={() => void decide()}
      >
        {note.confirmed_by ? t.withdraw : t.confirm}
      </Button>
    </div>
  );
}

export function ProposalNotice({ note, view }: { note: Note; view: View }) {
  const t = useText(noteText);
  if (!note.proposal) return null;
  return (
    <Notice
      action={
        <LinkButton small href={noteHref(note.id, { ...view, q: "", map: false, inbox: true })}>
          {t.toInbox}
        </LinkButton>
      }
    >
      {t.isProposal}
    </Notice>
  );
}

/** In a list: a proposal of one's own, which waits. */
export function WaitingBadge({ proposal }: { proposal: boolean }) {
  const t = useText(noteText);
  if (!proposal) return null;
  return (
    <span className="tag" title={t.isProposal}>
      {t.isWaiting}
    </span>
  );
}

/** In a list of hits: a proposal, or a note that nobody has confirmed. */
export function TrustBadge({ hit }: { hit: Hit }) {
  const t = useText(noteText);
  if (hit.proposal) return <WaitingBadge proposal />;
  if (hit.confirmed_by) return null;
  return (
    <span className="tag" title={t.unconfirmedHint}>
      {t.unconfirmed}
    </span>
  );
}
