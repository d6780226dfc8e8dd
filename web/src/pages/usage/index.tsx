import "./usage.css";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { messageIn } from "../../../core/server-message";
import { useMe } from "../../account/account";
import { agentsQuery } from "../../agents/agents";
import { apiUrl } from "../../api";
import { count } from "../../i18n/amounts";
import { date, monthName } from "../../i18n/dates";
import { useLanguage, useText } from "../../i18n/language";
import { usageText } from "../../i18n/strings/usage";
import { useTranslate } from "../../i18n/translate";
import { Button, IconButton, LinkButton } from "../../ui/button";
import { Empty, ErrorNotice, Page, Skeletons } from "../../ui/feedback";
import { DayChart, type Unit } from "./chart";
import { LimitBars } from "./limit-bars";
import { LimitSettings } from "./limits";
import { GroupTable, Rows, useCost } from "./tables";
import { type Group, monthQuery, query, type Report, type Sum, shifted, thisMonth, useReport } from "./usage";

export default function UsagePage() {
  const t = useText(usageText);
  const me = useMe();
  const [month, setMonth] = useState(thisMonth);
  const [team, setTeam] = useState(false);
  const { data, error, isPending, refetch } = useReport(month, team);
  const own = useQuery(monthQuery);
  const shared = me?.admin === true && me.authentication === "required";
  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={
        <LinkButton small icon="download" href={apiUrl("api/usage/export", query(month, team))} download>
          {t.exportCsv}
        </LinkButton>
      }
    >
      <div className="stack us-page">
        <div className="row wrap">
          <MonthSwitch month={month} since={data?.since ?? null} onMonth={setMonth} />
          <span className="grow" />
          {shared && <Whose team={team} onTeam={setTeam} />}
        </div>
        {own.data && month === own.data.month && <LimitBars month={own.data} />}
        {error && <ErrorNotice error={error} retry={() => void refetch()} />}
        {isPending && <Skeletons lines={4} height="3rem" />}
        {data && <Details report={data} month={month} team={team} />}
        {me?.admin && <LimitSettings users={data?.users.map(({ name }) => name) ?? []} />}
      </div>
    </Page>
  );
}

function MonthSwitch({
  month,
  since,
  onMonth,
}: {
  month: string;
  since: string | null;
  onMonth: (month: string) => void;
}) {
  const t = useText(usageText);
  const language = useLanguage();
  return (
    <div className="us-month">
      <IconButton
        icon="left"
        label={t.previousMonth}
        disabled={since !== null && month <= since.slice(0, 7)}
        onClick={() => onMonth(shifted(month, -1))}
      />
      <span aria-live="polite">{monthName(month, language)}</span>
      <IconButton
        icon="right"
        label={t.nextMonth}
        disabled={month >= thisMonth()}
        onClick={() => onMonth(shifted(month, 1))}
      />
    </div>
  );
}

function Whose({ team, onTeam }: { team: boolean; onTeam: (team: boolean) => void }) {
  const t = useText(usageText);
  return (
    <fieldset className="us-choice">
      <legend className="hidden-text">{t.whose}</legend>
      {[false, true].map((value) => (
        <Button key={String(value)} small aria-pressed={team === value} onClick={() => onTeam(value)}>
          {value ? t.team : t.own}
        </Button>
      ))}
    </fieldset>
  );
}

function Details({ report, month, team }: { report: Report; month: string; team: boolean }) {
  const t = useText(usageText);
  const language = useLanguage();
  const agentName = useAgentNames();
  const [chosen, setUnit] = useState<Unit | null>(null);
  if (report.total.requests === 0) {
    return (
      <Empty icon="chart" title={t.empty}>
        {t.emptyHint}
      </Empty>
    );
  }
  const unit = chosen ?? (report.total.cost > 0 ? "cost" : "tokens");
  return (
    <>
      <Totals total={report.total} />
      <section>
        <div className="row wrap us-heading">
          <h2>{t.byDay}</h2>
          <span className="grow" />
          <fieldset className="us-choice">
            <legend className="hidden-text">{t.show}</legend>
            {(["cost", "tokens"] as const).map((one) => (
              <Button key={one} small aria-pressed={unit === one} onClick={() => setUnit(one)}>
                {t[one]}
              </Button>
            ))}
          </fieldset>
        </div>
        <DayChart days={report.days} month={month} unit={unit} />
        <details className="us-days">
          <summary>{t.table}</summary>
          <Rows
            label={t.byDay}
            column={t.day}
            groups={report.days}
            name={(day) => date(day.name, language)}
          />
        </details>
      </section>
      <GroupTable heading={t.byModel} column={t.model} groups={report.models} />
      <GroupTable heading={t.byAgent} column={t.agent} groups={report.agents} name={agentName} />
      {team && <GroupTable heading={t.byUser} column={t.user} groups={report.users} />}
    </>
  );
}

function Totals({ total }: { total: Sum }) {
  const t = useText(usageText);
  const language = useLanguage();
  const cost = useCost();
  const share = new Intl.NumberFormat(language, { style: "percent" }).format(
    total.input_tokens ? total.cached_tokens / total.input_tokens : 0,
  );
  return (
    <>
      <dl className="us-totals">
        <Total name={t.cost} value={cost(total)} />
        <Total
          name={t.tokens}
          value={count(total.input_tokens + total.output_tokens, language)}
          note={total.cached_tokens > 0 ? t.cachedShare(share) : undefined}
        />
        <Total name={t.requests} value={count(total.requests, language)} />
      </dl>
      {(total.unpriced_requests > 0 || total.estimated_requests > 0) && (
        <p className="muted small us-notes">
          {total.unpriced_requests > 0 && t.unpriced(total.unpriced_requests)}{" "}
          {total.estimated_requests > 0 && t.estimated(total.estimated_requests)}
        </p>
      )}
    </>
  );
}

function Total({ name, value, note }: { name: string; value: string; note?: string }) {
  return (
    <div className="card us-total">
      <dt>{name}</dt>
      <dd>{value}</dd>
      {note && <dd className="us-note">{note}</dd>}
    </div>
  );
}

/** The name of an agent that still exists, or else its id. */
function useAgentNames(): (group: Group) => string {
  const translate = useTranslate();
  const { data } = useQuery(agentsQuery);
  return (group) => {
    const agent = data?.agents.find((one) => one.agent_id === group.name);
    return agent ? translate(messageIn(agent, "name")) : group.name;
  };
}
