import { ago } from "../../i18n/dates";
import { useLanguage, useText } from "../../i18n/language";
import { workflowsText } from "../../i18n/strings/workflows";
import type { ExecutionRow } from "./workflows";

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
