import { useQuery } from "@tanstack/react-query";
import type { ServerText } from "../../../core/texts";
import { api } from "../../api";

export interface Endpoint {
  id: string;
  name: ServerText;
  state: "found" | "configured" | "missing";
  address: string | null;
  settings: string[];
  models: string[];
  install: string | null;
}

export interface Room {
  name: string;
  open: boolean;
  reason: ServerText | null;
  tools: { name: string; description: string; destructive: boolean }[];
}

export interface Outcome {
  ok: boolean;
  models: string[];
  problem: ServerText | null;
  install: string | null;
}

export function useSetup() {
  return useQuery({
    queryKey: ["setup"],
    queryFn: ({ signal }) => api.get<{ endpoints: Endpoint[]; rooms: Room[] }>("api/setup", { signal }),
  });
}

export function testEndpoint(id: string): Promise<Outcome> {
  return api.post<Outcome>(`api/setup/endpoints/${encodeURIComponent(id)}/test`);
}
