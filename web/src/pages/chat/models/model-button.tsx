import { useQuery } from "@tanstack/react-query";
import { memo, useState, useSyncExternalStore } from "react";
import { modelOf } from "../../../../core/conversation";
import { type ModelChoice, modelName, referredName } from "../../../../core/model-choice";
import { agentsQuery, STATE_MS } from "../../../agents/agents";
import { modelMemory } from "../../../agents/model-memory";
import { findModel, useModels } from "../../../agents/models";
import { useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { chats } from "../../../sessions/chats";
import { Button } from "../../../ui/button";
import { Icon } from "../../../ui/icon";
import { lazyPage } from "../../../ui/lazy";
import { LazyDialog } from "../../../ui/lazy-dialog";

const ModelPicker = lazyPage(() => import("./model-picker"));

export function useModelChoice(session: string): ModelChoice {
  return useSyncExternalStore(chats.subscribe, () => modelOf(chats.get(session)));
}

/** The model of the conversation; nothing for an agent whose model cannot be chosen. */
export const ModelButton = memo(function ModelButton({
  session,
  agentId,
  onAgent,
}: {
  session: string;
  agentId: string | null;
  onAgent: (id: string) => void;
}) {
  const t = useText(chatText);
  const { data } = useQuery(agentsQuery);
  const choice = useModelChoice(session);
  const [open, setOpen] = useState(false);
  const agent = data?.agents.find((one) => one.agent_id === agentId);
  const available = useAvailable(agent?.model_parameters ? choice.model : null);
  if (!agent?.model_parameters) return null;
  const own = agent.model ? modelName(agent.model) : "";
  const name = choice.model ? referredName(choice.model) : own || t.defaultModel;
  const choose = (chosen: ModelChoice) => {
    chats.chooseModel(session, chosen);
    onAgent(agent.agent_id); // the default agent changes when the model server dies, the one with a chosen model does not
    modelMemory.remember(chosen);
  };
  return (
    <>
      <Button
        small
        kind="quiet"
        className="model-button"
        aria-label={`${t.model}: ${name}${available ? "" : ` (${t.modelGone})`}`}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        {choice.model && <span className={`agent-dot ${available ? "" : "off"}`} />}
        <span className="ellipsis">{name}</span>
        <Icon name="down" size={14} />
      </Button>
      {open && (
        <LazyDialog label={t.model} onClose={() => setOpen(false)}>
          <ModelPicker
            choice={choice}
            ownName={own}
            ownParameters={agent.model_parameters}
            onChoose={choose}
            onClose={() => setOpen(false)}
          />
        </LazyDialog>
      )}
    </>
  );
});

/** Whether the chosen model is still offered; the agent's own is not checked here, its dot is the agent's. */
function useAvailable(model: string | null): boolean {
  const { data } = useModels({ enabled: model !== null, refetchInterval: STATE_MS });
  if (!model || !data) return true;
  const found = findModel(data.endpoints, model);
  return Boolean(found.model && !found.endpoint?.error);
}
