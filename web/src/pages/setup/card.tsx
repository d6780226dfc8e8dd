import "./setup.css";
import { useState } from "react";
import { useText } from "../../i18n/language";
import { hrefTo } from "../../route";
import { Button, LinkButton } from "../../ui/button";
import { Failure } from "../../ui/feedback";
import { Icon } from "../../ui/icon";
import { notes } from "../knowledge/notes";
import { EndpointCard } from "./endpoints";
import { useSetup } from "./setup";
import { setupText } from "./text";

/** For the chat where nobody but the notes agent can answer. Says nothing once a model is there. */
export function FirstRunCard() {
  const t = useText(setupText);
  const { data } = useSetup();
  if (!data || data.endpoints.some((endpoint) => endpoint.state !== "missing")) return null;
  return (
    <section className="card su-first" aria-labelledby="su-first">
      <h2 id="su-first">
        <Icon name="spark" /> {t.noModel}
      </h2>
      <p className="muted">{t.noModelLead}</p>
      <ul className="su-endpoints">
        {data.endpoints.map((endpoint) => (
          <EndpointCard key={endpoint.id} endpoint={endpoint} />
        ))}
      </ul>
      <div className="row wrap">
        <LinkButton small href={hrefTo("setup")}>
          {t.openSetup}
        </LinkButton>
        <LinkButton small icon="plug" href={hrefTo("servers")}>
          {t.toServers}
        </LinkButton>
      </div>
    </section>
  );
}

export function SampleNotes() {
  const t = useText(setupText);
  const [state, setState] = useState<"idle" | "adding" | "added">("idle");
  const [failure, setFailure] = useState<unknown>(null);
  async function add() {
    setState("adding");
    setFailure(null);
    try {
      await notes.addSamples();
      setState("added");
    } catch (error) {
      setFailure(error);
      setState("idle");
    }
  }
  return (
    <section className="card stack">
      <h2>{t.samples}</h2>
      <p className="muted">{t.samplesLead}</p>
      {failure !== null && <Failure error={failure} />}
      <div className="row wrap" role="status">
        {state === "added" ? (
          <>
            <span className="su-done">
              <Icon name="check" /> {t.added}
            </span>
            <LinkButton small icon="book" href={`${hrefTo("knowledge")}?tag=sample`}>
              {t.toKnowledge}
            </LinkButton>
          </>
        ) : (
          <Button icon="spark" disabled={state === "adding"} onClick={add}>
            {state === "adding" ? t.adding : t.addSamples}
          </Button>
        )}
      </div>
    </section>
  );
}
