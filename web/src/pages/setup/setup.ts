import { useQuery } from "@tanstack/react-query";
import type { WithOptionalText, WithText } from "../../../core/server-message";
import { api } from "../../api";

export interface Endpoint extends WithText<"name"> {
  id: string;
  state: "found" | "configured" | "missing";
  address: string | null;
  settings: string[];
  models: string[];
  install: string | null;
}

/** One of Chie's own MCP servers; `reason` says why it is not open. */
export interface BuiltInServer extends WithOptionalText<"reason"> {
  name: string;
  open: boolean;
  tools: { name: string; description: string; destructive: boolean }[];
}

/** Whether an agent answers with a model; the notes agent does without. */
export const needsModel = ({ agent_id }: { agent_id: string }): boolean => agent_id !== "notes";

/** Whether an endpoint on this machine responds, and its package is installed. */
export const isUsable = ({ state, install }: Endpoint): boolean => state === "found" && install === null;

export function useSetup(options: { refetchInterval?: number } = {}) {
  return useQuery({
    ...options,
    queryKey: ["setup"],
    queryFn: ({ signal }) =>
      api.get<{ endpoints: Endpoint[]; servers: BuiltInServer[] }>("api/setup", { signal }),
  });
}

/** The models of an endpoint that works. */
export function testEndpoint(id: string): Promise<{ models: string[] }> {
  return api.post<{ models: string[] }>(`api/setup/endpoints/${encodeURIComponent(id)}/test`);
}
