import { useQuery } from "@tanstack/react-query";
import type { ServerText } from "../../../core/texts";
import { api } from "../../api";
import { useSetup } from "../setup/setup";

export type State = "open" | "idle" | "connecting" | "connected" | "failed" | "not_configured" | "unknown";

export interface Tool {
  name: string;
  description: string;
  destructive: boolean;
}

export interface ServerState {
  name: string;
  transport: "built-in" | "stdio" | "http";
  state: State;
  error: ServerText | null;
  tools: Tool[];
}

interface Told {
  name: string;
  state: string;
  error?: ServerText | null;
  transport?: string;
  tools?: (string | Partial<Tool>)[];
}

const STATES: readonly State[] = ["open", "idle", "connecting", "connected", "failed", "not_configured"];
const MOVING_MS = 2_000;

/** What agents are connected with, and the rooms of the house that nobody has asked for yet. */
export function useServers() {
  const setup = useSetup();
  const told = useQuery({
    queryKey: ["servers"],
    queryFn: ({ signal }) => api.get<{ servers: Told[] }>("api/mcp/servers", { signal }),
    refetchInterval: ({ state }) =>
      state.data?.servers.some(({ state: one }) => one === "connecting") ? MOVING_MS : 15_000,
  });
  const rooms = setup.data?.rooms ?? [];
  const known = (told.data?.servers.map(read) ?? []).map((server) =>
    server.tools.length > 0
      ? server
      : { ...server, tools: rooms.find((room) => room.name === server.name)?.tools ?? [] },
  );
  const rest = rooms.filter((room) => !known.some((server) => server.name === room.name));
  const servers: ServerState[] = [
    ...known,
    ...rest.map((room) => ({
      name: room.name,
      transport: "built-in" as const,
      state: room.open ? ("open" as const) : ("not_configured" as const),
      error: room.reason,
      tools: room.tools,
    })),
  ];
  return {
    servers,
    error: told.error ?? setup.error,
    loading: told.isPending || setup.isPending,
    refetch: told.refetch,
  };
}

function read(told: Told): ServerState {
  return {
    name: told.name,
    transport: told.transport === "stdio" || told.transport === "http" ? told.transport : "built-in",
    state: STATES.find((state) => state === told.state) ?? "unknown",
    error: told.error ?? null,
    tools: (told.tools ?? []).map((tool) =>
      typeof tool === "string"
        ? { name: tool, description: "", destructive: false }
        : {
            name: tool.name ?? "",
            description: tool.description ?? "",
            destructive: Boolean(tool.destructive),
          },
    ),
  };
}

export function useConnections() {
  return useQuery({
    queryKey: ["setup", "connect"],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => api.get<{ address: string; hosts: Host[] }>("api/setup/connect", { signal }),
  });
}

export interface Host {
  id: string;
  name: string;
  file: string | null;
  language: "shell" | "json" | "toml";
  text: string;
}
