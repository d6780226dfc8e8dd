import { useState } from "react";
import { messageIn } from "../../../core/server-message";
import { ago } from "../../i18n/dates";
import { useLanguage, useText } from "../../i18n/language";
import { settingsText } from "../../i18n/strings/settings";
import { useTranslate } from "../../i18n/translate";
import { useRoute } from "../../route";
import { Button } from "../../ui/button";
import { ErrorNotice, Notice, Skeletons } from "../../ui/feedback";
import { testEndpoint } from "../setup/setup";
import { EndpointDialog } from "./endpoint-form";
import { type Endpoint, endpoints, KINDS, type Kind, type Trial, useEndpoints } from "./endpoints";
import { Removal } from "./removal";
import { Names, TrialResult, useTrial } from "./trial";

/** The endpoints of the environment, then those that were added here. */
export function EndpointSection({ admin }: { admin: boolean }) {
  const t = useText(settingsText);
  const { data, error, refetch } = useEndpoints();
  const asked = useRoute().query.get("add");
  const [edited, setEdited] = useState<Endpoint | Kind | null>(KINDS.find((kind) => kind === asked) ?? null);
  return (
    <section aria-labelledby="st-endpoints">
      <div className="st-head">
        <h2 id="st-endpoints">{t.endpoints}</h2>
        {admin && (
          <Button small icon="plus" onClick={() => setEdited("openai")}>
            {t.addEndpoint}
          </Button>
        )}
      </div>
      <p className="muted">{t.endpointsLead}</p>
      {error && <ErrorNotice error={error} retry={() => refetch()} />}
      {!data && !error && <Skeletons lines={2} height="4rem" />}
      {data?.endpoints.length === 0 && <Notice>{t.noEndpoints}</Notice>}
      <ul className="st-list">
        {data?.endpoints.map((endpoint) => (
          <Entry key={endpoint.id} endpoint={endpoint} admin={admin} edit={() => setEdited(endpoint)} />
        ))}
      </ul>
      {admin && edited && <EndpointDialog edited={edited} onClose={() => setEdited(null)} />}
    </section>
  );
}

function Entry({ endpoint, admin, edit }: { endpoint: Endpoint; admin: boolean; edit: () => void }) {
  const t = useText(settingsText);
  const name = useTranslate()(messageIn(endpoint, "name"));
  const [removing, setRemoving] = useState(false);
  const trial = useTrial<Trial>();
  const isOwn = endpoint.source === "page";
  const test = () =>
    void trial.run(async () =>
      isOwn
        ? endpoints.test({ id: endpoint.id })
        : { ok: true, models: (await testEndpoint(endpoint.id)).models },
    );
  return (
    <li className="card st-entry">
      <div className="row wrap">
        <h3>{name}</h3>
        <State endpoint={endpoint} />
        <span className="grow" />
        {admin && (
          <Button small disabled={trial.testing} aria-label={`${t.test}: ${name}`} onClick={test}>
            {trial.testing ? t.testing : t.test}
          </Button>
        )}
        {admin && isOwn && (
          <>
            <Button small icon="edit" aria-label={`${t.edit}: ${name}`} onClick={edit}>
              {t.edit}
            </Button>
            <Button small icon="trash" aria-label={`${t.remove}: ${name}`} onClick={() => setRemoving(true)}>
              {t.remove}
            </Button>
          </>
        )}
      </div>
      <Facts endpoint={endpoint} />
      {removing && (
        <Removal
          question={t.confirmEndpoint(name)}
          remove={() => endpoints.remove(endpoint.id)}
          cancel={() => setRemoving(false)}
        />
      )}
      <TrialResult trial={trial}>
        {(result) => (
          <>
            {t.works(result.models.length)} <Names names={result.models} />
          </>
        )}
      </TrialResult>
    </li>
  );
}

function State({ endpoint }: { endpoint: Endpoint }) {
  const t = useText(settingsText);
  if (endpoint.source === "environment") return <span className="st-chip">{t.environment}</span>;
  if (endpoint.key === null || (endpoint.key === "none" && endpoint.kind === "bedrock")) return null;
  return <span className={`st-chip ${endpoint.key}`}>{t[`key_${endpoint.key}`]}</span>;
}

function Facts({ endpoint }: { endpoint: Endpoint }) {
  const t = useText(settingsText);
  const language = useLanguage();
  return (
    <div className="st-facts">
      {String(endpoint.name) !== t[`kind_${endpoint.kind}`] && <span>{t[`kind_${endpoint.kind}`]}</span>}
      {endpoint.url && <code>{endpoint.url}</code>}
      {endpoint.region && <code>{endpoint.region}</code>}
      {endpoint.profile && (
        <span>
          {t.profile}: <code>{endpoint.profile}</code>
        </span>
      )}
      {endpoint.model && <code>{endpoint.model}</code>}
      {endpoint.key_changed_at && <span>{t.changed(ago(endpoint.key_changed_at, language))}</span>}
      {endpoint.variables.map((variable) => (
        <code key={variable}>{variable}</code>
      ))}
      {endpoint.source === "environment" && <span>{t.environmentNote}</span>}
    </div>
  );
}
