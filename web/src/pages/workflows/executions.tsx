import { useState } from "react";
import { messageIn } from "../../../core/server-message";
import { useText } from "../../i18n/language";
import { workflowsText } from "../../i18n/strings/workflows";
import { Translated } from "../../i18n/translate";
import { Button } from "../../ui/button";
import { ErrorNotice, Notice, Skeletons } from "../../ui/feedback";
import { TryFix } from "./rehearsal";
import { Status, When } from "./status";
import { type Execution, type GraphNode, useExecution, useExecutions } from "./workflows";

export function Executions({
  id,
  nodes,
  rehearsals,
  chosen,
  choose,
}: {
  id: string;
  nodes: GraphNode[];
  rehearsals: boolean | null;
  chosen: string | null;
  choose: (execution: string) => void;
}) {
  const t = useText(workflowsText);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useExecutions(id);
  const rows = data?.pages.flatMap((page) => page.executions) ?? [];
  return (
    <section className="card stack" aria-labelledby="wf-executions">
      <h2 id="wf-executions">{t.executions}</h2>
      {error && <ErrorNotice error={error} retry={() => refetch()} />}
      {!data && !error && <Skeletons lines={4} />}
      {data && rows.length === 0 && <p className="muted">{t.noExecutions}</p>}
      <ul className="wf-rows">
        {rows.map((execution) => (
          <li key={execution.id}>
            <button
              type="button"
              className="wf-row"
              aria-pressed={execution.id === chosen}
              onClick={() => choose(execution.id)}
            >
              <Status status={execution.status} />
              <span className="muted small">#{execution.id}</span>
              <span className="grow" />
              <When execution={execution} />
            </button>
            {execution.id === chosen && (
              <Outcome id={execution.id} workflow={id} nodes={nodes} rehearsals={rehearsals} />
            )}
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <Button small disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
          {isFetchingNextPage ? t.loading : t.more}
        </Button>
      )}
    </section>
  );
}

function Outcome({
  id,
  workflow,
  nodes,
  rehearsals,
}: {
  id: string;
  workflow: string;
  nodes: GraphNode[];
  rehearsals: boolean | null;
}) {
  const t = useText(workflowsText);
  const { data, error, refetch } = useExecution(id);
  const [trying, setTrying] = useState(false);
  if (error) return <ErrorNotice error={error} retry={() => refetch()} />;
  if (!data) return <Skeletons lines={1} />;
  return (
    <>
      <Result execution={data} />
      {data.failed && rehearsals && (
        <Button small icon="flow" onClick={() => setTrying(true)}>
          {t.tryFix}
        </Button>
      )}
      {data.failed && rehearsals === false && <p className="muted small wf-outcome">{t.tryNeedsToken}</p>}
      {trying && (
        <TryFix workflow={workflow} nodes={nodes} execution={data} onClose={() => setTrying(false)} />
      )}
    </>
  );
}

function Result({ execution }: { execution: Execution }) {
  const t = useText(workflowsText);
  if (execution.failed) {
    const { node, message, description } = execution.failed;
    return (
      <Notice kind="bad">
        <strong>{node ? t.failedAt(node) : t.failed}</strong>
        <p>
          <Translated message={messageIn(execution.failed, "message")} />
        </p>
        {description && description !== message && (
          <p className="small">
            <Translated message={messageIn(execution.failed, "description")} />
          </p>
        )}
      </Notice>
    );
  }
  return (
    <p className="muted small wf-outcome">
      {execution.nodes ? (
        t.ran(execution.nodes.length)
      ) : (
        <Translated message={messageIn(execution, "note")} />
      )}
    </p>
  );
}
