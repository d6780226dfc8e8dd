/** The agents that can be asked, as the server lists them. */
import type { WithOptionalText, WithText } from "../../core/server-message";
import { api } from "../api";
import { queryClient } from "../query";
import type { ModelParameter } from "./models";

export interface Agent extends WithText<"name" | "description">, WithOptionalText<"reason"> {
  agent_id: string;
  supports_mcp: boolean;
  available: boolean;
  model: string | null;
  sees_images: boolean;
  reads_documents: boolean;
  /** The MCP servers that it uses. */
  servers: string[];
  /** About how many tokens its tools take in every question; null while that is not known. */
  tool_tokens: number | null;
  /** What its own model takes; null where its model cannot be chosen. */
  model_parameters: ModelParameter[] | null;
}

/** How often it is checked whether model servers respond, while the page is visible. */
export const STATE_MS = 5_000;

export interface Agents {
  agents: Agent[];
  default_id: string | null;
  /** The one that the page selects. */
  preselected_id: string | null;
}

export const agentsQuery = {
  queryKey: ["agents"],
  queryFn: ({ signal }: { signal: AbortSignal }) => api.get<Agents>("/api/agents", { signal }),
  refetchInterval: (query: { state: { error: unknown } }) => (query.state.error ? 2_000 : STATE_MS),
};

/** An agent of the list that was loaded last. */
export function knownAgent(agentId: string | null): Agent | undefined {
  const agents = queryClient.getQueryData<Agents>(agentsQuery.queryKey)?.agents;
  return agents?.find((agent) => agent.agent_id === agentId);
}
