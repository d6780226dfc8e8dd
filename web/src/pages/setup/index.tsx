import "./setup.css";
import { useQuery } from "@tanstack/react-query";
import { agentsQuery } from "../../agents/agents";
import { useText } from "../../i18n/language";
import { setupText } from "../../i18n/strings/setup";
import { hrefTo } from "../../route";
import { LinkButton } from "../../ui/button";
import { ErrorNotice, Notice, Page, Skeletons } from "../../ui/feedback";
import { useEndpoints } from "../settings/endpoints";
import { AddedCard, EndpointCard } from "./endpoints";
import { SampleNotes } from "./samples";
import { isUsable, needsModel, useSetup } from "./setup";

export default function SetupPage() {
  const t = useText(setupText);
  const { data, error, refetch } = useSetup();
  const { data: answering } = useQuery(agentsQuery);
  const added = useEndpoints().data?.endpoints.filter(({ source }) => source === "page") ?? [];
  const ready =
    data?.endpoints.some(isUsable) || answering?.agents.some((agent) => agent.available && needsModel(agent));
  return (
    <Page title={t.title} lead={t.lead}>
      <div className="stack su-page">
        {error && <ErrorNotice error={error} retry={() => refetch()} />}
        {ready && <Notice kind="good">{t.oneFound}</Notice>}
        <section aria-labelledby="su-models">
          <h2 id="su-models" className="hidden-text">
            {t.models}
          </h2>
          {data ? (
            <ul className="su-endpoints">
              {added.map((endpoint) => (
                <AddedCard key={endpoint.id} endpoint={endpoint} />
              ))}
              {data.endpoints.map((endpoint) => (
                <EndpointCard key={endpoint.id} endpoint={endpoint} />
              ))}
            </ul>
          ) : (
            !error && <Skeletons lines={5} height="4.5rem" />
          )}
        </section>
        <div className="su-pair">
          <SampleNotes />
          <section className="card stack">
            <h2>{t.assistant}</h2>
            <p className="muted">{t.assistantLead}</p>
            <div>
              <LinkButton icon="plug" href={hrefTo("servers")}>
                {t.toServers}
              </LinkButton>
            </div>
          </section>
        </div>
      </div>
    </Page>
  );
}
