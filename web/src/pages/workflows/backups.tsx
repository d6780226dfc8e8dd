import { useState } from "react";
import { dateTime } from "../../i18n/dates";
import { useLanguage, useText } from "../../i18n/language";
import { workflowsText } from "../../i18n/strings/workflows";
import { go, hrefTo } from "../../route";
import { Button } from "../../ui/button";
import { Dialog, DialogFoot } from "../../ui/dialog";
import { ErrorNotice, Notice, Skeletons } from "../../ui/feedback";
import { useToast } from "../../ui/toast";
import { Done } from "./status";
import { type Backup, type Difference, restore, useBackups, useComparison } from "./workflows";

const REASONS = ["update", "patch", "replace", "restore", "delete"] as const;

export function Backups({ id, readOnly }: { id: string; readOnly: boolean }) {
  const t = useText(workflowsText);
  const language = useLanguage();
  const { data, error, refetch } = useBackups(id);
  const [opened, setOpened] = useState<Backup | null>(null);
  return (
    <section className="card stack" aria-labelledby="wf-backups">
      <h2 id="wf-backups">{t.backups}</h2>
      {error && <ErrorNotice error={error} retry={() => refetch()} />}
      {!data && !error && <Skeletons lines={2} />}
      {data?.backups.length === 0 && <p className="muted">{t.noBackups}</p>}
      <ul className="wf-rows">
        {data?.backups.map((backup) => (
          <li key={backup.backup} className="wf-backup">
            <span>{dateTime(backup.time, language)}</span>
            <span className="muted small">
              <Reason reason={backup.reason} /> · {t.nodes(backup.nodes)}
            </span>
            <span className="grow" />
            <Button
              small
              icon="history"
              aria-label={`${t.compare}: ${dateTime(backup.time, language)}`}
              onClick={() => setOpened(backup)}
            >
              {t.compare}
            </Button>
          </li>
        ))}
      </ul>
      {opened && <Compare backup={opened} readOnly={readOnly} onClose={() => setOpened(null)} />}
    </section>
  );
}

function Reason({ reason }: { reason: string }) {
  const t = useText(workflowsText);
  const known = REASONS.find((one) => one === reason);
  return known ? t[`reason_${known}`] : reason;
}

function Compare({ backup, readOnly, onClose }: { backup: Backup; readOnly: boolean; onClose: () => void }) {
  const t = useText(workflowsText);
  const toast = useToast();
  const { data, error, refetch } = useComparison(backup.backup);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);

  async function bringBack() {
    setBusy(true);
    setFailure(null);
    try {
      const done = await restore(backup.backup);
      onClose();
      toast(<Done text={t.restored} changed={done} />);
      go(hrefTo("workflows", done.workflow_id));
    } catch (caught) {
      setFailure(caught);
      setBusy(false);
    }
  }

  return (
    <Dialog title={t.restoreTitle} wide onClose={onClose}>
      <div className="stack wf-dialog">
        <p className="muted">{t.restoreLead}</p>
        {error && <ErrorNotice error={error} retry={() => refetch()} />}
        {!data && !error && <Skeletons lines={4} />}
        {data && !data.exists && <Notice kind="warn">{t.gone}</Notice>}
        {data?.same && <Notice>{t.same}</Notice>}
        {data && !data.same && <Differences difference={data.difference} />}
        {readOnly && <Notice>{t.readOnly}</Notice>}
        {failure !== null && <ErrorNotice error={failure} />}
      </div>
      <DialogFoot onCancel={onClose}>
        <Button kind="primary" disabled={busy || readOnly || !data || data.same} onClick={bringBack}>
          {busy ? t.restoring : t.restore}
        </Button>
      </DialogFoot>
    </Dialog>
  );
}

function Differences({ difference }: { difference: Difference }) {
  const t = useText(workflowsText);
  const { name, added, removed, changed, settings } = difference;
  return (
    <ul className="wf-differences">
      {name && (
        <li>
          <b>{t.name}</b> <del>{name[0]}</del> → <ins>{name[1]}</ins>
        </li>
      )}
      {added.map((node) => (
        <li key={`+${node}`} className="plus">
          <ins>{node}</ins> <span className="muted">{t.added}</span>
        </li>
      ))}
      {removed.map((node) => (
        <li key={`-${node}`} className="minus">
          <del>{node}</del> <span className="muted">{t.removed}</span>
        </li>
      ))}
      {Object.entries(changed).map(([node, keys]) => (
        <li key={`~${node}`} className="tilde">
          {node} <span className="muted">{t.changed}:</span> <code>{keys.join(", ")}</code>
        </li>
      ))}
      {difference.connections_added.map((link) => (
        <li key={`+c${link}`} className="plus">
          {t.connections}: <ins>{link}</ins>
        </li>
      ))}
      {difference.connections_removed.map((link) => (
        <li key={`-c${link}`} className="minus">
          {t.connections}: <del>{link}</del>
        </li>
      ))}
      {settings.length > 0 && (
        <li className="tilde">
          {t.settings}: <code>{settings.join(", ")}</code>
        </li>
      )}
      {difference.tags_added.map((tag) => (
        <li key={`+t${tag}`} className="plus">
          {t.tags}: <ins>{tag}</ins>
        </li>
      ))}
      {difference.tags_removed.map((tag) => (
        <li key={`-t${tag}`} className="minus">
          {t.tags}: <del>{tag}</del>
        </li>
      ))}
      {difference.others.length > 0 && (
        <li className="tilde">
          {t.others}: <code>{difference.others.join(", ")}</code>
        </li>
      )}
    </ul>
  );
}
