import { useQuery } from "@tanstack/react-query";
import type { WithOptionalText } from "../../../core/server-message";
import { api } from "../../api";
import { useSetup } from "../setup/setup";

export type State = "open" | "idle" | "connecting" | "connected" | "failed" | "not_configured" | "unknown";

export interface Tool {
  name: string;
  description: string;
  destructive: boolean;
  changed?: boolean;
}

/** How a server that was added in the settings is configured; the values of its headers stay on the server. */
interface AddedServer {
  url: string;
  query: boolean;
  headers: string[];
  always_ask: boolean;
  readable: boolean;
  changed_at: string | null;
}

export interface ServerState extends WithOptionalText<"error"> {
  name: string;
  transport: "built-in" | "stdio" | "http";
  state: State;
  tools: Tool[];
  /** Whether the server asks the user to log in, or the user has. */
  login?: "required" | "connected" | null;
  /** For admins. */
  added?: AddedServer | null;
}

interface ConnectedServer extends WithOptionalText<"error"> {
  name: string;
  state: string;
  transport?: string;
  login?: "required" | "connected" | null;
  added?: AddedServer | null;
  tools?: (string | Partial<Tool>)[];
}

const STATES: readonly State[] = ["open", "idle", "connecting", "connected", "failed", "not_configured"];
const CONNECTING_INTERVAL_MS = 2_000;
const REFETCH_INTERVAL_MS = 15_000;

/** The MCP servers that agents connect to, followed by built-in ones that no agent uses. */
export function useServers() {
  const setup = useSetup();
  const connected = useQuery({
    queryKey: ["servers"],
    queryFn: ({ signal }) => api.get<{ servers: ConnectedServer[] }>("api/mcp/servers", { signal }),
    refetchInterval: ({ state }) =>
      state.data?.servers.some(({ state: one }) => one === "connecting")
        ? CONNECTING_INTERVAL_MS
        : REFETCH_INTERVAL_MS,
  });
  const builtIn = setup.data?.servers ?? [];
  const known = (connected.data?.servers.map(read) ?? []).map((server) =>
    server.tools.length > 0
      ? server
      : { ...server, tools: builtIn.find(({ name }) => name === server.name)?.tools ?? [] },
  );
  const rest = builtIn.filter(({ name }) => !known.some((server) => server.name === name));
  const servers: ServerState[] = [
    ...known,
    ...rest.map(({ name, open, tools, ...why }) => ({
      name,
      transport: "built-in" as const,
      state: open ? ("open" as const) : ("not_configured" as const),
      error: why.reason,
      error_code: why.reason_code,
      error_params: why.reason_params,
      tools,
    })),
  ];
  return {
    servers,
    error: connected.error ?? setup.error,
    loading: connected.isPending || setup.isPending,
    refetch: connected.refetch,
  };
}

function read(server: ConnectedServer): ServerState {
  return {
    ...server,
    transport: server.transport === "stdio" || server.transport === "http" ? server.transport : "built-in",
    state: STATES.find((state) => state === server.state) ?? "unknown",
    tools: (server.tools ?? []).map((tool) =>
      typeof tool === "string"
        ? { name: tool, description: "", destructive: false }
        : {
            name: tool.name ?? "",
            description: tool.description ?? "",
            destructive: Boolean(tool.destructive),
            changed: Boolean(tool.changed),
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
