import { useQuery } from "@tanstack/react-query";
import { memo } from "react";
import { modelName } from "../../../../core/model-choice";
import { messageIn } from "../../../../core/server-message";
import { type Agent, agentsQuery } from "../../../agents/agents";
import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { Translated, useTranslate } from "../../../i18n/translate";
import { Button } from "../../../ui/button";
import { Icon } from "../../../ui/icon";
import { Menu, MenuChoice, MenuLabel } from "../../../ui/menu";
import { useModelChoice } from "../models/model-button";

/** Chooses the agent that answers; an unavailable one shows the reason. */
export const AgentMenu = memo(function AgentMenu({
  session,
  chosen,
  onChoose,
}: {
  session: string;
  chosen: string | null;
  onChoose: (id: string) => void;
}) {
  const t = useText(chatText);
  const { model } = useModelChoice(session);
  const { data, isError } = useQuery(agentsQuery);
  const agents = (data?.agents ?? []).toSorted((a, b) => Number(b.available) - Number(a.available));
  const agent = agents.find((one) => one.agent_id === chosen);
  const translate = useTranslate();
  const name = agent
    ? translate(messageIn(agent, "name"))
    : data
      ? t.noAgents
      : isError
        ? t.agentsFailed
        : t.chooseAgent;
  // The dot is the agent's own model; that of a chosen model is beside its name.
  const off = !agent?.available && !(model && agent?.model_parameters);
  return (
    <Menu
      trigger={
        <Button
          small
          kind="quiet"
          className="agent-button"
          aria-label={`${t.chooseAgent}: ${name}${off ? ` (${t.agentUnavailable})` : ""}`}
          title={agent?.tool_tokens ? t.toolTokens(agent.tool_tokens) : undefined}
          disabled={!agents.length}
        >
          {!(model && agent?.model_parameters) && <span className={`agent-dot ${off ? "off" : ""}`} />}
          <span className="ellipsis">{name}</span>
          <Icon name="down" size={14} />
        </Button>
      }
    >
      <MenuLabel>{t.chooseAgent}</MenuLabel>
      {agents.map((one) => (
        <MenuChoice
          key={one.agent_id}
          checked={one.agent_id === chosen}
          disabled={!one.available}
          note={<About agent={one} />}
          onSelect={() => onChoose(one.agent_id)}
        >
          {translate(messageIn(one, "name"))}
        </MenuChoice>
      ))}
    </Menu>
  );
});

function About({ agent }: { agent: Agent }) {
  const t = useText(chatText);
  const translate = useTranslate();
  if (agent.available)
    return [
      translate(messageIn(agent, "description")),
      agent.model && modelName(agent.model),
      agent.tool_tokens && t.toolTokens(agent.tool_tokens),
    ]
      .filter(Boolean)
      .join(" · ");
  return (
    <>
      {t.agentUnavailable}
      {agent.reason && ": "}
      <Translated message={messageIn(agent, "reason")} />
    </>
  );
}
