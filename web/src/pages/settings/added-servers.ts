/** MCP servers by URL that an admin adds here. Values of headers are sent, never received. */
import type { WithOptionalText } from "../../../core/server-message";
import { api } from "../../api";
import { queryClient } from "../../query";

export interface ServerFields {
  url?: string;
  /** All headers; null keeps the stored value. */
  headers?: Record<string, string | null>;
  always_ask?: boolean;
}

export interface ServerTrial extends WithOptionalText<"reason"> {
  ok: boolean;
  tools: string[];
  login: boolean;
}

const path = (name: string) => `api/mcp/servers/${encodeURIComponent(name)}`;

const refetch = () => queryClient.invalidateQueries({ queryKey: ["servers"] });

export const addedServers = {
  async add(name: string, fields: ServerFields): Promise<void> {
    await api.post("api/mcp/servers", { name, ...fields });
    await refetch();
  },
  async change(name: string, fields: ServerFields): Promise<void> {
    await api.patch(path(name), fields);
    await refetch();
  },
  async remove(name: string): Promise<void> {
    await api.delete(path(name));
    await refetch();
  },
  test: (fields: ServerFields & { name?: string; added?: boolean }) =>
    api.post<ServerTrial>("api/mcp/servers/test", fields),
};
