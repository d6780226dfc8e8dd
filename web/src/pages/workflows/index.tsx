import "./workflows.css";
import { useEffect, useState } from "react";
import { messageIn } from "../../../core/server-message";
import { useText } from "../../i18n/language";
import { workflowsText } from "../../i18n/strings/workflows";
import { Translated } from "../../i18n/translate";
import { hrefTo, useRoute } from "../../route";
import { Button, LinkButton } from "../../ui/button";
import { Empty, ErrorNotice, Notice, Page, Skeletons } from "../../ui/feedback";
import { SearchField } from "../../ui/field";
import { languageOf } from "../knowledge/notes";
import { Snippet } from "../servers/snippet";
import { type BuiltInServer, useSetup } from "../setup/setup";
import { WorkflowDetail } from "./detail";
import { State, Status, When } from "./status";
import { useWorkflows, type WorkflowRow } from "./workflows";

export default function WorkflowsPage() {
  const t = useText(workflowsText);
  const id = useRoute().rest[0];
  const setup = useSetup();
  const server = setup.data?.servers.find(({ name }) => name === "n8n");
  const list = useWorkflows(Boolean(server?.open));
  if (!setup.data)
    return (
      <Page title={t.title} lead={t.lead}>
        {setup.error ? (
          <ErrorNotice error={setup.error} retry={() => setup.refetch()} />
        ) : (
          <Skeletons lines={5} height="3rem" />
        )}
      </Page>
    );
  if (!server?.open) return <NotConnected server={server} />;
  if (id) {
    const first = list.data?.pages[0];
    return (
      <WorkflowDetail
        id={id}
        readOnly={first?.read_only ?? false}
        rehearsals={first ? first.rehearsals : null}
      />
    );
  }
  return <WorkflowList list={list} />;
}

function NotConnected({ server }: { server: BuiltInServer | undefined }) {
  const t = useText(workflowsText);
  return (
    <Page title={t.title} lead={t.lead}>
      <div className="card stack wf-off">
        <Empty icon="flow" title={t.off}>
          {t.offLead}
        </Empty>
        {server?.reason && (
          <Notice>
            <Translated message={messageIn(server, "reason")} />
          </Notice>
        )}
        <p>{t.offHint}</p>
        <Snippet text={"N8N_URL=http://127.0.0.1:5678\nN8N_API_KEY=…"} label="n8n" />
      </div>
    </Page>
  );
}

function WorkflowList({ list }: { list: ReturnType<typeof useWorkflows> }) {
  const t = useText(workflowsText);
  const [filter, setFilter] = useState("");
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetching, isFetchingNextPage } = list;
  const filtered = filter.trim() !== "";
  // The filter is applied on the page, so it needs all of the list.
  const loadsRest = filtered && hasNextPage && !error;
  useEffect(() => {
    if (loadsRest && !isFetching) void fetchNextPage();
  }, [loadsRest, isFetching, fetchNextPage]);
  const first = data?.pages[0];
  const rows = data?.pages.flatMap((page) => page.workflows) ?? [];
  const shown = rows.filter((row) => matches(row, filter)).sort(byUrgency);
  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={
        first && (
          <LinkButton icon="link" href={first.n8n} target="_blank" rel="noreferrer noopener">
            {t.openN8n}
          </LinkButton>
        )
      }
    >
      <div className="stack">
        <SearchField label={t.filter} value={filter} onChange={(event) => setFilter(event.target.value)} />
        {first?.read_only && <Notice>{t.readOnly}</Notice>}
        {error && <ErrorNotice error={error} retry={() => refetch()} />}
        {!data && !error && <Skeletons lines={6} height="3rem" />}
        {data && (
          <p className="muted small" role="status">
            {rows.length === 0
              ? t.none
              : hasNextPage
                ? t.soFar(shown.length)
                : shown.length === 0
                  ? t.noMatch
                  : t.count(shown.length)}
          </p>
        )}
        <ul className="wf-list">
          {shown.map((workflow) => (
            <li key={workflow.id}>
              <a className="wf-item card" href={hrefTo("workflows", workflow.id)}>
                <span className="wf-item-name">
                  <strong lang={languageOf(workflow.name)}>{workflow.name}</strong>
                  <State workflow={workflow} />
                  {workflow.tags.map((tag) => (
                    <span key={tag} className="tag">
                      {tag}
                    </span>
                  ))}
                </span>
                <span className="wf-item-last">
                  {workflow.last ? (
                    <>
                      <Status status={workflow.last.status} />
                      <When execution={workflow.last} />
                    </>
                  ) : (
                    <span className="muted small">{t.never}</span>
                  )}
                </span>
              </a>
            </li>
          ))}
        </ul>
        {hasNextPage && (
          <Button disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
            {isFetchingNextPage ? t.loading : t.more}
          </Button>
        )}
      </div>
    </Page>
  );
}

function matches(row: WorkflowRow, filter: string): boolean {
  const wanted = filter.normalize("NFKC").toLowerCase().trim();
  return [row.name, ...row.tags].some((text) => text.normalize("NFKC").toLowerCase().includes(wanted));
}

/** Failed workflows first, then published ones, then by name. */
function byUrgency(one: WorkflowRow, two: WorkflowRow): number {
  const rank = (row: WorkflowRow) =>
    row.archived ? 3 : row.last && ["error", "crashed"].includes(row.last.status) ? 0 : row.active ? 1 : 2;
  return rank(one) - rank(two) || one.name.localeCompare(two.name);
}
