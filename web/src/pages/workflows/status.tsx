import { messagesIn } from "../../../core/server-message";
import { ago } from "../../i18n/dates";
import { useLanguage, useText } from "../../i18n/language";
import { workflowsText } from "../../i18n/strings/workflows";
import { Translated } from "../../i18n/translate";
import type { Changed, ExecutionRow, WorkflowRow } from "./workflows";

const STATUSES = ["success", "error", "crashed", "running", "waiting", "canceled", "new"] as const;

export function Status({ status }: { status: string }) {
  const t = useText(workflowsText);
  const known = STATUSES.find((one) => one === status) ?? "unknown";
  return <span className={`wf-status ${known}`}>{t[`status_${known}`]}</span>;
}

export function When({ execution }: { execution: ExecutionRow }) {
  const t = useText(workflowsText);
  const language = useLanguage();
  const seconds = execution.durationMs === undefined ? null : (execution.durationMs / 1000).toFixed(1);
  return (
    <span className="muted small">
      {execution.startedAt && ago(execution.startedAt, language)}
      {seconds !== null && ` · ${t.took(seconds)}`}
    </span>
  );
}

/** Whether a workflow runs. */
export function State({ workflow }: { workflow: WorkflowRow }) {
  const t = useText(workflowsText);
  const state = workflow.archived ? "archived" : workflow.active ? "active" : "inactive";
  return <span className={`wf-state ${state}`}>{t[state]}</span>;
}

/** The text of a toast after a change, with the notes of the server. */
export function Done({ text, changed }: { text: string; changed: Changed }) {
  return (
    <>
      {text}
      {messagesIn(changed, "notes").map(([key, note]) => (
        <span key={key}>
          {" "}
          <Translated message={note} />
        </span>
      ))}
    </>
  );
}
