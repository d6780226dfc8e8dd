import { useText } from "../../i18n/language";
import { workflowsText } from "../../i18n/strings/workflows";
import type { WorkflowRow } from "./workflows";

export function State({ workflow }: { workflow: WorkflowRow }) {
  const t = useText(workflowsText);
  const state = workflow.archived ? "archived" : workflow.active ? "active" : "inactive";
  return <span className={`wf-state ${state}`}>{t[state]}</span>;
}
