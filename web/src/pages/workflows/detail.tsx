import { useState } from "react";
import { useText } from "../../i18n/language";
import { workflowsText } from "../../i18n/strings/workflows";
import { hrefTo } from "../../route";
import { LinkButton } from "../../ui/button";
import { ErrorNotice, Notice, Skeletons } from "../../ui/feedback";
import { languageOf } from "../knowledge/notes";
import { Backups } from "./backups";
import { Executions } from "./executions";
import { WorkflowGraph } from "./graph";
import { State } from "./status";
import { type Graph, useExecution, useExecutions, useGraph } from "./workflows";

/** `rehearsals` says whether a fix can be tried; null while that is not known. */
export function WorkflowDetail({
  id,
  readOnly,
  rehearsals,
}: {
  id: string;
  readOnly: boolean;
  rehearsals: boolean | null;
}) {
  const t = useText(workflowsText);
  const { data, error, refetch } = useGraph(id);
  return (
    <div className="page">
      <div className="page-body wf-page">
        <LinkButton className="wf-back" kind="quiet" small icon="left" href={hrefTo("workflows")}>
          {t.back}
        </LinkButton>
        {error && <ErrorNotice error={error} retry={() => refetch()} />}
        {!data && !error && <Skeletons lines={6} />}
        {data && <Workflow key={id} graph={data} readOnly={readOnly} rehearsals={rehearsals} />}
      </div>
    </div>
  );
}

/** Selects the newest execution at first, if it has failed. */
function Workflow({
  graph,
  readOnly,
  rehearsals,
}: {
  graph: Graph;
  readOnly: boolean;
  rehearsals: boolean | null;
}) {
  const t = useText(workflowsText);
  const { workflow } = graph;
  const newest = useExecutions(workflow.id).data?.pages[0]?.executions[0];
  const [chosen, setChosen] = useState<string | null | undefined>(undefined);
  const shown = chosen === undefined ? (newest?.status === "error" ? newest.id : null) : chosen;
  const { data: execution } = useExecution(shown);
  return (
    <>
      <div className="page-head wf-head">
        <h1 lang={languageOf(workflow.name)}>{workflow.name}</h1>
        <State workflow={workflow} />
        <LinkButton small icon="link" href={workflow.url} target="_blank" rel="noreferrer noopener">
          {t.openN8n}
        </LinkButton>
      </div>
      {graph.description && <p className="muted">{graph.description}</p>}
      {graph.draft && <Notice kind="warn">{t.draft}</Notice>}
      <WorkflowGraph graph={graph} execution={shown ? execution : undefined} />
      <div className="wf-columns">
        <Executions
          id={workflow.id}
          nodes={graph.nodes}
          rehearsals={readOnly ? null : rehearsals}
          chosen={shown}
          choose={(one) => setChosen(one === shown ? null : one)}
        />
        <Backups id={workflow.id} readOnly={readOnly} />
      </div>
    </>
  );
}
