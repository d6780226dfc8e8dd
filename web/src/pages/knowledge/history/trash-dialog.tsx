import { useState } from "react";
import { useMe } from "../../../account/account";
import { ago, date, dateTime } from "../../../i18n/dates";
import { useLanguage, useText } from "../../../i18n/language";
import { historyText } from "../../../i18n/strings/history";
import { Button } from "../../../ui/button";
import { Dialog, DialogFoot } from "../../../ui/dialog";
import { ErrorNotice, Skeletons } from "../../../ui/feedback";
import { useToast } from "../../../ui/toast";
import { useAuthorName } from "../note/confirmation";
import { languageOf } from "../notes";
import { history, type Trashed, useTrash } from "./history";

/** Deleted notes: restore them, or delete them for good. */
export function TrashDialog({ onClose }: { onClose: () => void }) {
  const t = useText(historyText);
  const toast = useToast();
  const { data, error, refetch } = useTrash();
  const [asking, setAsking] = useState<Trashed | null>(null);
  const [saving, setSaving] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  async function act(work: () => Promise<unknown>, done: string) {
    setSaving(true);
    setFailure(null);
    try {
      await work();
      toast(done);
    } catch (error) {
      setFailure(error);
    }
    setAsking(null);
    setSaving(false);
  }
  return (
    <Dialog title={t.trash} wide onClose={onClose}>
      {error ? (
        <ErrorNotice error={error} retry={() => refetch()} />
      ) : !data ? (
        <Skeletons lines={4} />
      ) : (
        <div className="stack">
          <p className="muted">{data.notes.length > 0 ? t.trashLead(data.days) : t.trashEmpty}</p>
          <ul className="kn-trash">
            {data.notes.map((note) => (
              <TrashRow
                key={note.id}
                note={note}
                busy={saving}
                restore={() => void act(() => history.restore(note.id), t.isRestored(note.title))}
                purge={() => setAsking(note)}
              />
            ))}
          </ul>
          {failure !== null && <ErrorNotice error={failure} />}
          {asking && (
            <DialogFoot>
              <strong className="grow" role="alert">
                {t.reallyPurge(asking.title)}
              </strong>
              <Button
                kind="danger"
                disabled={saving}
                onClick={() => void act(() => history.purge(asking.id), t.isPurged(asking.title))}
              >
                {t.purge}
              </Button>
              <Button autoFocus onClick={() => setAsking(null)}>
                {t.keep}
              </Button>
            </DialogFoot>
          )}
        </div>
      )}
    </Dialog>
  );
}

function TrashRow({
  note,
  busy,
  restore,
  purge,
}: {
  note: Trashed;
  busy: boolean;
  restore: () => void;
  purge: () => void;
}) {
  const t = useText(historyText);
  const language = useLanguage();
  const name = useAuthorName();
  const me = useMe();
  const canEdit = !me || me.admin || me.id === note.user_id;
  return (
    <li className="kn-trash-row">
      <span className="grow">
        <strong lang={languageOf(note.title)}>{note.title}</strong>
        <span className="muted small kn-version-about" title={dateTime(note.deleted_at, language)}>
          {t.deletedBy(name(note.deleted_by), ago(note.deleted_at, language))} ·{" "}
          {t.keptUntil(date(note.expires_at, language))}
        </span>
      </span>
      {canEdit && (
        <>
          <Button small disabled={busy} aria-label={t.restoreNamed(note.title)} onClick={restore}>
            {t.restore}
          </Button>
          <Button small kind="danger" disabled={busy} aria-label={t.purgeNamed(note.title)} onClick={purge}>
            {t.purge}
          </Button>
        </>
      )}
    </li>
  );
}
