import { type DragEvent, useRef, useState } from "react";
import { messagesIn } from "../../../../core/server-message";
import { api } from "../../../api";
import { useText } from "../../../i18n/language";
import { knowledgeText } from "../../../i18n/strings/knowledge";
import { Translated } from "../../../i18n/translate";
import { queryClient } from "../../../query";
import { Button } from "../../../ui/button";
import { Dialog } from "../../../ui/dialog";
import { ErrorNotice, Notice } from "../../../ui/feedback";
import { Icon } from "../../../ui/icon";
import type { Draft, Imported } from "../notes";
import { isSecret, SecretButtons } from "./secret-warning";

const MAX_BATCH_FILES = 20;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

export const EXPORT = "api/knowledge/export";

export function ImportDialog({ onClose }: { onClose: () => void }) {
  const t = useText(knowledgeText);
  const input = useRef<HTMLInputElement>(null);
  const [done, setDone] = useState<{ files: number; of: number } | null>(null);
  const busy = done !== null;
  const [over, setOver] = useState(false);
  const [report, setReport] = useState<Imported | null>(null);
  const [taken, setTaken] = useState<File[]>([]);
  const [failure, setFailure] = useState<unknown>(null);

  async function take(files: Iterable<File>, options: Options = {}) {
    const chosen = [...files];
    if (chosen.length === 0) return;
    setTaken(chosen);
    setFailure(null);
    setReport(null);
    setDone({ files: 0, of: chosen.length });
    try {
      let sent = 0;
      for (const batch of batches(chosen)) {
        const part = await upload(batch, options);
        setReport((before) => joined(before, part));
        sent += batch.length;
        setDone({ files: sent, of: chosen.length });
      }
    } catch (error) {
      setFailure(error);
    } finally {
      setDone(null);
      void queryClient.invalidateQueries({ queryKey: ["knowledge"] });
    }
  }

  function drop(event: DragEvent) {
    event.preventDefault();
    setOver(false);
    void take(event.dataTransfer.files);
  }

  return (
    <Dialog title={t.importTitle} onClose={onClose}>
      <div className="stack">
        <p className="muted">{t.importLead}</p>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same by keyboard */}
        <div
          className={`kn-drop ${over ? "over" : ""}`}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
        >
          <Icon name="upload" size={28} />
          <Button kind="primary" disabled={busy} data-autofocus onClick={() => input.current?.click()}>
            {done ? t.importing : t.chooseFiles}
          </Button>
          <span className="muted small">{t.drop}</span>
          <input
            ref={input}
            type="file"
            multiple
            hidden
            aria-label={t.chooseFiles}
            accept=".md,.markdown,.txt,.zip"
            onChange={(event) => {
              void take(event.target.files ?? []);
              event.target.value = ""; // allows choosing the same file again
            }}
          />
        </div>
        <div role="status" className="stack">
          {done && done.of > 1 && (
            <>
              <progress className="kn-progress" value={done.files} max={done.of} aria-label={t.importing} />
              <span className="muted small">{t.importedSoFar(done.files, done.of)}</span>
            </>
          )}
          {report && !busy && <Notice kind="good">{t.imported(report.saved, report.unchanged)}</Notice>}
          {report && !busy && report.newer.length > 0 && (
            <Notice kind="warn">
              {t.newerHere(report.newer.length)}
              <ul className="kn-refused">
                {report.newer.map((name) => (
                  <li key={name}>{name}</li>
                ))}
              </ul>
              <Button small onClick={() => void take(taken, { overwrite: true })}>
                {t.replaceNewer}
              </Button>
            </Notice>
          )}
          {report && Object.keys(report.refused).length > 0 && (
            <Notice kind="warn">
              {t.refused(Object.keys(report.refused).length)}
              <ul className="kn-refused">
                {messagesIn(report, "refused").map(([name, reason]) => (
                  <li key={name}>
                    <strong>{name}</strong>: <Translated message={reason} />
                  </li>
                ))}
              </ul>
              {messagesIn(report, "refused").some(([, reason]) => isSecret(reason)) && (
                <SecretButtons
                  labels={{ mask: t.maskAndImport, allow: t.importAnyway }}
                  disabled={busy}
                  save={(secrets) => void take(taken, { secrets })}
                />
              )}
            </Notice>
          )}
        </div>
        {failure !== null && <ErrorNotice error={failure} />}
      </div>
    </Dialog>
  );
}

/** Files are uploaded in batches, so that progress is visible and an error loses only the batches after it. */
function* batches(files: File[]): Generator<File[]> {
  let batch: File[] = [];
  let bytes = 0;
  for (const file of files) {
    if (batch.length > 0 && (batch.length >= MAX_BATCH_FILES || bytes + file.size > MAX_BATCH_BYTES)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(file);
    bytes += file.size;
  }
  if (batch.length > 0) yield batch;
}

function joined(before: Imported | null, part: Imported): Imported {
  if (!before) return part;
  return {
    saved: before.saved + part.saved,
    unchanged: before.unchanged + part.unchanged,
    newer: [...before.newer, ...part.newer],
    refused: { ...before.refused, ...part.refused },
    refused_code: { ...before.refused_code, ...part.refused_code },
    refused_params: { ...before.refused_params, ...part.refused_params },
  };
}

interface Options {
  /** Also replace notes that were changed in Chie later. */
  overwrite?: boolean;
  secrets?: Draft["secrets"];
}

function upload(files: File[], { overwrite, secrets }: Options): Promise<Imported> {
  const form = new FormData();
  for (const file of files) {
    form.append("files", file, file.webkitRelativePath || file.name);
    form.append("modified", modifiedAt(file));
  }
  if (overwrite) form.append("overwrite", "true");
  if (secrets) form.append("secrets", secrets);
  return api.post<Imported>("api/knowledge/import", form);
}

/** Clamped to the past: file systems hold dates that ISO 8601 cannot express. */
function modifiedAt(file: File): string {
  return new Date(Math.min(Math.max(file.lastModified, 0), Date.now())).toISOString();
}
