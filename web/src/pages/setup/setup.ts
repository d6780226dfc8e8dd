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

export interface TestResult extends WithOptionalText<"problem"> {
  ok: boolean;
  models: string[];
  install: string | null;
}

export function useSetup() {
  return useQuery({
    queryKey: ["setup"],
    queryFn: ({ signal }) =>
      api.get<{ endpoints: Endpoint[]; servers: BuiltInServer[] }>("api/setup", { signal }),
  });
}

export function testEndpoint(id: string): Promise<TestResult> {
  return api.post<TestResult>(`api/setup/endpoints/${encodeURIComponent(id)}/test`);
}
