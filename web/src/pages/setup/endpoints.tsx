import "./setup.css";
import { useState } from "react";
import { modelName } from "../../../core/model-choice";
import { messageIn, type WithText } from "../../../core/server-message";
import { useMe } from "../../account/account";
import { useText } from "../../i18n/language";
import { setupText } from "../../i18n/strings/setup";
import { useTranslate } from "../../i18n/translate";
import { queryClient } from "../../query";
import { hrefTo } from "../../route";
import { Button, LinkButton } from "../../ui/button";
import { ErrorNotice, Notice } from "../../ui/feedback";
import { Snippet } from "../servers/snippet";
import { type Endpoint, testEndpoint } from "./setup";

const SHOWN_MODELS = 5;

/** The kinds of endpoints that are added in the settings, by the id of the card. */
const ADDED: Record<string, string> = {
  openai: "openai",
  anthropic: "anthropic",
  bedrock: "bedrock",
  own: "openai",
};

export function EndpointCard({ endpoint }: { endpoint: Endpoint }) {
  const t = useText(setupText);
  const [testing, setTesting] = useState(false);
  const [models, setModels] = useState<string[] | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const how: Record<string, string> = {
    "lm-studio": t.how_lm_studio,
    ollama: t.how_ollama,
    openai: t.how_openai,
    anthropic: t.how_anthropic,
    bedrock: t.how_bedrock,
    own: t.how_own,
  };
  const name = useTranslate()(messageIn(endpoint, "name"));
  const added = ADDED[endpoint.id];
  const admin = useMe()?.admin ?? true;

  async function test() {
    setTesting(true);
    setModels(null);
    setFailure(null);
    try {
      setModels((await testEndpoint(endpoint.id)).models);
    } catch (error) {
      setFailure(error);
    } finally {
      setTesting(false);
      void queryClient.invalidateQueries({ queryKey: ["setup"], exact: true });
      void queryClient.invalidateQueries({ queryKey: ["agents"] });
    }
  }

  return (
    <li className="card su-endpoint">
      <div className="su-endpoint-head">
        <h3>{name}</h3>
        <span className={`su-state ${endpoint.state}`}>{t[endpoint.state]}</span>
        <span className="grow" />
        <Button small disabled={testing} aria-label={`${t.test}: ${name}`} onClick={test}>
          {testing ? t.testing : t.test}
        </Button>
      </div>
      {endpoint.address && <code className="su-address">{endpoint.address}</code>}
      <details className="su-how" open={endpoint.state !== "missing" && endpoint.install !== null}>
        <summary>{t.show}</summary>
        <p>{added && !admin ? t.askAdmin : how[endpoint.id]}</p>
        {added && admin && (
          <LinkButton
            small
            icon="gear"
            href={`${hrefTo("settings")}?add=${added}`}
            aria-label={`${t.toSettings}: ${name}`}
          >
            {t.toSettings}
          </LinkButton>
        )}
        {endpoint.install && <p>{t.install}</p>}
        {endpoint.install && <Snippet text={endpoint.install} label={t.install} />}
      </details>
      <div role="status">
        {failure === null && (models ?? endpoint.models).length > 0 && (
          <Models models={models ?? endpoint.models} />
        )}
      </div>
      {failure !== null && <ErrorNotice error={failure} />}
    </li>
  );
}

/** One that an admin has added; it is tested and changed in the settings. */
export function AddedCard({ endpoint }: { endpoint: WithText<"name"> }) {
  const t = useText(setupText);
  const name = useTranslate()(messageIn(endpoint, "name"));
  return (
    <li className="card su-endpoint">
      <div className="su-endpoint-head">
        <h3>{name}</h3>
        <span className="su-state configured">{t.added}</span>
        <span className="grow" />
        <LinkButton small icon="gear" href={hrefTo("settings")} aria-label={`${t.toSettings}: ${name}`}>
          {t.toSettings}
        </LinkButton>
      </div>
    </li>
  );
}

function Models({ models }: { models: string[] }) {
  const t = useText(setupText);
  return (
    <Notice kind="good">
      {t.works(models.length)}{" "}
      {models.slice(0, SHOWN_MODELS).map((model) => (
        <code key={model} className="su-model">
          {modelName(model)}
        </code>
      ))}
      {models.length > SHOWN_MODELS && <span> {t.more(models.length - SHOWN_MODELS)}</span>}
    </Notice>
  );
}
