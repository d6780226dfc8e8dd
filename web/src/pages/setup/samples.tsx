import "./setup.css";
import { useState } from "react";
import { useText } from "../../i18n/language";
import { setupText } from "../../i18n/strings/setup";
import { hrefTo } from "../../route";
import { Button, LinkButton } from "../../ui/button";
import { ErrorNotice } from "../../ui/feedback";
import { Icon } from "../../ui/icon";
import { notes } from "../knowledge/notes";

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
      {failure !== null && <ErrorNotice error={failure} />}
      <div className="row wrap" role="status">
        {state === "added" ? (
          <>
            <span className="su-done">
              <Icon name="check" /> {t.samplesAdded}
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
