import "./import.css";
import { useQueryClient } from "@tanstack/react-query";
import { type DragEvent, useEffect, useRef, useState } from "react";
import { useText } from "../../i18n/language";
import { importText } from "../../i18n/strings/import";
import { Translated } from "../../i18n/translate";
import { Button } from "../../ui/button";
import { Dialog, DialogFoot } from "../../ui/dialog";
import { ErrorNotice, Notice } from "../../ui/feedback";
import { Icon } from "../../ui/icon";
import { type Report, sendExport } from "./import-run";

type Step = "choose" | "checking" | "planned" | "importing" | "imported";

/** Choose a file, see what would be imported, then import it. */
export default function ImportDialog({ onClose }: { onClose: () => void }) {
  const t = useText(importText);
  const { step, plan, report, failure, stopped, check, start, stop } = useImport();
  const busy = step === "checking" || step === "importing";
  const useful = plan ? plan.new + plan.extended : 0;
  return (
    <Dialog title={t.title} onClose={() => !busy && onClose()}>
      <div className="stack">
        {step === "choose" && (
          <>
            <p>{t.lead}</p>
            <p className="small muted">{t.where}</p>
          </>
        )}
        {failure !== null && <ErrorNotice error={failure} />}
        {stopped && <Notice kind="warn">{t.stopped}</Notice>}
        {!busy && step !== "imported" && <Picker again={step === "planned"} onFile={check} />}
        {busy && <Progress step={step} report={report} total={plan?.conversations} />}
        {step === "planned" && plan && <Counts title={t.found} report={plan} />}
        {step === "planned" && (
          <p className="small muted">{useful ? t.kept : plan?.existing ? t.nothingNew : t.nothing}</p>
        )}
        {step === "imported" && report && <Counts title={t.result} report={report} />}
        <DialogFoot>
          {step === "importing" && <Button onClick={stop}>{t.stop}</Button>}
          {step === "planned" && useful > 0 && (
            <Button kind="primary" onClick={start}>
              {t.start(useful)}
            </Button>
          )}
          {step === "imported" && (
            <Button kind="primary" autoFocus onClick={onClose}>
              {t.done}
            </Button>
          )}
        </DialogFoot>
      </div>
    </Dialog>
  );
}

function useImport() {
  const client = useQueryClient();
  const [step, setStep] = useState<Step>("choose");
  const [plan, setPlan] = useState<Report | null>(null);
  const [report, setReport] = useState<Report | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [stopped, setStopped] = useState(false);
  const file = useRef<File | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  async function run(dryRun: boolean, onReport: (report: Report) => void, next: Step, before: Step) {
    if (!file.current) return;
    const controller = new AbortController();
    running.current = controller;
    setFailure(null);
    setStopped(false);
    setReport(null);
    setStep(dryRun ? "checking" : "importing");
    try {
      await sendExport(file.current, { dryRun, signal: controller.signal, onReport });
      setStep(next);
    } catch (error) {
      if (!controller.signal.aborted) setFailure(error);
      setStep(before);
    }
    if (!dryRun) void client.invalidateQueries({ queryKey: ["sessions"] });
  }
  const check = (chosen: File) => {
    file.current = chosen;
    const take = (found: Report) => {
      setReport(found);
      setPlan(found);
    };
    void run(true, take, "planned", "choose");
  };
  const start = () => void run(false, setReport, "imported", "planned");
  const stop = () => {
    running.current?.abort();
    setStopped(true);
  };
  return { step, plan, report, failure, stopped, check, start, stop };
}

function Picker({ again, onFile }: { again: boolean; onFile: (file: File) => void }) {
  const t = useText(importText);
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const take = (files: FileList | null) => files?.[0] && onFile(files[0]);
  const choose = (
    <Button
      kind={again ? "plain" : "primary"}
      data-autofocus={again ? undefined : true}
      onClick={() => input.current?.click()}
    >
      {again ? t.another : t.choose}
    </Button>
  );
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files);
  };
  return (
    <>
      {again ? (
        <div>{choose}</div>
      ) : (
        // biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same by keyboard
        <div
          className={`import-drop ${over ? "over" : ""}`}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
        >
          <Icon name="upload" size={28} />
          {choose}
          <span className="muted small">{t.drop}</span>
        </div>
      )}
      <input
        ref={input}
        type="file"
        accept=".zip,.json,application/zip,application/json"
        hidden
        onChange={(event) => {
          take(event.target.files);
          event.target.value = "";
        }}
      />
    </>
  );
}

function Progress({ step, report, total }: { step: Step; report: Report | null; total: number | undefined }) {
  const t = useText(importText);
  const done = report?.conversations ?? 0;
  const text = !report
    ? t.uploading
    : step === "checking"
      ? t.checking(done)
      : t.importing(done, total ?? done);
  return (
    <div role="status">
      <p>{text}</p>
      <progress
        className="import-progress"
        aria-label={text}
        {...(step === "importing" && report ? { value: done, max: total || 1 } : {})}
      />
    </div>
  );
}

function Counts({ title, report }: { title: string; report: Report }) {
  const t = useText(importText);
  const rows: [string, number][] = [
    [t.fresh, report.new],
    [t.extended, report.extended],
    [t.existing, report.existing],
    [t.messages, report.messages],
    [t.skipped, report.skipped_count],
  ];
  const unlisted = report.skipped_count - report.skipped.length;
  return (
    <section aria-label={title} className="stack">
      <h3>{title}</h3>
      <dl className="import-report">
        {rows.flatMap(([name, count]) => [
          <dt key={name}>{name}</dt>,
          <dd key={`${name} count`}>{count.toLocaleString()}</dd>,
        ])}
      </dl>
      {report.skipped.length > 0 && (
        <details open={!(report.new + report.extended + report.existing)}>
          <summary>{t.why}</summary>
          <ul className="import-skipped" tabIndex={0} aria-label={t.why}>
            {report.skipped.map((one, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: titles may repeat
              <li key={index}>
                <strong>{one.title || t.restOfFile}</strong>:{" "}
                <Translated message={{ text: one.detail, code: one.code, params: one.params }} />
              </li>
            ))}
            {unlisted > 0 && <li>{t.more(unlisted)}</li>}
          </ul>
        </details>
      )}
    </section>
  );
}
