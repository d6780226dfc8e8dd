/** Model endpoints: those of the environment, and those that an admin adds here. Keys are sent, never received. */
import { useQuery } from "@tanstack/react-query";
import type { WithOptionalText, WithText } from "../../../core/server-message";
import { api } from "../../api";
import { queryClient } from "../../query";

export const KINDS = ["openai", "anthropic", "gemini", "bedrock"] as const;
export type Kind = (typeof KINDS)[number];

export interface Endpoint extends WithText<"name"> {
  id: string;
  kind: Kind;
  source: "page" | "environment";
  url: string | null;
  region: string | null;
  profile: string | null;
  model: string | null;
  key: "none" | "set" | "unreadable" | null;
  key_kind: "api_key" | "keys" | null;
  key_changed_at: string | null;
  variables: string[];
}

/** What is sent: a field that is left out keeps its value, null removes it. */
export interface EndpointFields {
  name?: string;
  url?: string | null;
  region?: string | null;
  profile?: string | null;
  model?: string | null;
  api_key?: string | null;
  access_key_id?: string | null;
  secret_access_key?: string | null;
  session_token?: string | null;
}

export interface Trial extends WithOptionalText<"reason"> {
  ok: boolean;
  models: string[];
}

export function useEndpoints() {
  return useQuery({
    queryKey: ["endpoints"],
    queryFn: ({ signal }) => api.get<{ endpoints: Endpoint[] }>("api/endpoints", { signal }),
  });
}

const path = (id: string) => `api/endpoints/${encodeURIComponent(id)}`;

/** Everything that depends on which models there are. */
async function refetch(): Promise<void> {
  for (const key of ["agents", "models", "setup"]) void queryClient.invalidateQueries({ queryKey: [key] });
  await queryClient.invalidateQueries({ queryKey: ["endpoints"] });
}

export const endpoints = {
  async add(kind: Kind, fields: EndpointFields): Promise<void> {
    await api.post("api/endpoints", { kind, ...fields });
    await refetch();
  },
  async change(id: string, fields: EndpointFields): Promise<void> {
    await api.patch(path(id), fields);
    await refetch();
  },
  async remove(id: string): Promise<void> {
    await api.delete(path(id));
    await refetch();
  },
  test: (fields: EndpointFields & { kind?: Kind; id?: string }) =>
    api.post<Trial>("api/endpoints/test", fields),
};
