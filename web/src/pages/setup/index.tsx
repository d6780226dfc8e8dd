import "./setup.css";
import { useText } from "../../i18n/language";
import { hrefTo } from "../../route";
import { LinkButton } from "../../ui/button";
import { ErrorNotice, Notice, Page, Skeletons } from "../../ui/feedback";
import { EndpointCard } from "./endpoints";
import { SampleNotes } from "./samples";
import { isUsable, useSetup } from "./setup";
import { setupText } from "./text";

export default function SetupPage() {
  const t = useText(setupText);
  const { data, error, refetch } = useSetup();
  const ready = data?.endpoints.some((endpoint) => isUsable(endpoint));
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
