import { type DragEvent, useRef, useState } from "react";
import { ApiError, address, noteStranger } from "../../api";
import { useText } from "../../i18n/language";
import { queryClient } from "../../query";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Failure, Notice } from "../../ui/feedback";
import { Icon } from "../../ui/icon";
import type { Imported } from "./notes";
import { knowledgeText } from "./text";

export const EXPORT = "api/knowledge/export";

export function ImportDialog({ onClose }: { onClose: () => void }) {
  const t = useText(knowledgeText);
  const input = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  const [over, setOver] = useState(false);
  const [report, setReport] = useState<Imported | null>(null);
  const [failure, setFailure] = useState<unknown>(null);

  async function take(files: Iterable<File>) {
    const chosen = [...files];
    if (chosen.length === 0) return;
    setBusy(true);
    setFailure(null);
    setReport(null);
    try {
      setReport(await upload(chosen));
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
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
            {busy ? t.importing : t.chooseFiles}
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
            }}
          />
        </div>
        <div role="status" className="stack">
          {report && <Notice kind="good">{t.imported(report.saved, report.unchanged)}</Notice>}
          {report && Object.keys(report.refused).length > 0 && (
            <Notice kind="warn">
              {t.refused(Object.keys(report.refused).length)}
              <ul className="kn-refused">
                {Object.entries(report.refused).map(([name, reason]) => (
                  <li key={name}>
                    <strong>{name}</strong>: {reason}
                  </li>
                ))}
              </ul>
            </Notice>
          )}
        </div>
        {failure !== null && <Failure error={failure} />}
      </div>
    </Dialog>
  );
}

async function upload(files: File[]): Promise<Imported> {
  const form = new FormData();
  for (const file of files) form.append("files", file, file.webkitRelativePath || file.name);
  const response = await fetch(address("api/knowledge/import"), { method: "POST", body: form }).catch(() => {
    throw new ApiError(0, "");
  });
  noteStranger(response, "api/knowledge/import");
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) {
    const detail = body && typeof body === "object" && "detail" in body ? String(body.detail) : "";
    throw new ApiError(response.status, detail || `HTTP ${response.status}`);
  }
  return body as Imported;
}
