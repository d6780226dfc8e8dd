import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { type Agent, agentsQuery } from "../../agents/agents";
import { useText } from "../../i18n/language";
import { chatText } from "../../i18n/strings/chat";
import { hrefTo } from "../../route";
import { Button, LinkButton } from "../../ui/button";
import { ErrorBoundary } from "../../ui/error-boundary";
import { needsModel } from "../setup/setup";

const FirstRunCard = lazy(() => import("../setup/card"));

/** A question that this agent can answer. */
function ideaFor(agent: Agent | undefined, t: typeof chatText.en): string {
  if (agent?.agent_id === "notes" || agent?.servers.includes("knowledge")) return t.ideaNotes;
  return agent?.servers.includes("fetch") ? t.ideaPage : t.ideaPlain;
}

export function Welcome({ agentId, onIdea }: { agentId: string | null; onIdea: (text: string) => void }) {
  const t = useText(chatText);
  const { data } = useQuery(agentsQuery);
  const idea = ideaFor(
    data?.agents.find((one) => one.agent_id === agentId),
    t,
  );
  // Decided here, so that a page with a model neither loads the card nor has model servers looked for.
  const firstRun = data && !data.agents.some((one) => one.available && needsModel(one));
  return (
    <div className="welcome">
      <h1>{t.welcome}</h1>
      <p className="lead">{t.welcomeLead}</p>
      <ul className="ideas">
        <li>
          <Button small className="idea" icon="chat" onClick={() => onIdea(idea)}>
            {idea}
          </Button>
        </li>
        <li>
          <LinkButton small className="idea" icon="book" href={hrefTo("knowledge")}>
            {t.browseNotes}
          </LinkButton>
        </li>
        <li>
          <LinkButton small className="idea" icon="plug" href={hrefTo("servers")}>
            {t.connectAssistant}
          </LinkButton>
        </li>
      </ul>
      {firstRun && (
        <ErrorBoundary fallback={null}>
          <Suspense fallback={null}>
            <FirstRunCard />
          </Suspense>
        </ErrorBoundary>
      )}
    </div>
  );
}
