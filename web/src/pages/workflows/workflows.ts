import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { WithOptionalText, WithText, WithTexts } from "../../../core/server-message";
import { api } from "../../api";
import { queryClient } from "../../query";

export interface ExecutionRow {
  id: string;
  workflowId: string;
  status: string;
  mode?: string;
  startedAt?: string;
  durationMs?: number;
  retryOf?: string;
}

export interface WorkflowRow {
  id: string;
  name: string;
  active: boolean;
  archived: boolean;
  tags: string[];
  updated_at: string | null;
  url: string;
  last: ExecutionRow | null;
}

export interface GraphNode {
  name: string;
  type: string;
  x: number;
  y: number;
  trigger: boolean;
  disabled: boolean;
  notes: string | null;
  parameters: Record<string, unknown>;
}

interface GraphLink {
  source: string;
  target: string;
  kind: string;
  output: number;
  input: number;
}

export interface Graph {
  workflow: WorkflowRow;
  description: string | null;
  draft: boolean;
  nodes: GraphNode[];
  links: GraphLink[];
}

export interface Execution extends ExecutionRow, WithOptionalText<"note"> {
  failed?: { node?: string } & WithText<"message"> & WithOptionalText<"description">;
  nodes?: { node: string; status?: string; items: number; ms: number }[];
}

export interface Backup {
  backup: string;
  name: string;
  reason: string;
  time: string;
  nodes: number;
}

export interface Difference {
  name: [string, string] | null;
  added: string[];
  removed: string[];
  changed: Record<string, string[]>;
  connections_added: string[];
  connections_removed: string[];
  settings: string[];
  tags_added: string[];
  tags_removed: string[];
  others: string[];
}

interface WorkflowPage {
  workflows: WorkflowRow[];
  next_cursor: string | null;
  n8n: string;
  read_only: boolean;
  rehearsals: boolean;
}

export type Operation = { op: string } & Record<string, unknown>;

export interface Rehearsed extends WithText<"summary">, WithTexts<"notes"> {
  outcome:
    | "fixed"
    | "still_failing"
    | "newly_failing"
    | "different"
    | "same"
    | "not_proven"
    | "needs_permission";
  version_id: string | null;
  would_run_for_real: Record<string, string>;
  differences: { node: string; at: string; before: string; after: string }[];
  pinned: string[];
  ran_for_real: string[];
}

const ROOT = "api/n8n";
const one = (id: string) => `${ROOT}/workflows/${encodeURIComponent(id)}`;

export function useWorkflows(enabled: boolean) {
  return useInfiniteQuery({
    queryKey: ["n8n", "workflows"],
    enabled,
    initialPageParam: null as string | null,
    refetchInterval: 30_000,
    queryFn: ({ pageParam, signal }) =>
      api.get<WorkflowPage>(`${ROOT}/workflows`, { query: { cursor: pageParam, limit: 100 }, signal }),
    getNextPageParam: (page) => page.next_cursor,
  });
}

export function useGraph(id: string) {
  return useQuery({
    queryKey: ["n8n", "workflow", id],
    queryFn: ({ signal }) => api.get<Graph>(one(id), { signal }),
  });
}

export function useExecutions(id: string) {
  return useInfiniteQuery({
    queryKey: ["n8n", "executions", id],
    initialPageParam: null as string | null,
    refetchInterval: 30_000,
    queryFn: ({ pageParam, signal }) =>
      api.get<{ executions: ExecutionRow[]; next_cursor: string | null }>(`${one(id)}/executions`, {
        query: { cursor: pageParam, limit: 20 },
        signal,
      }),
    getNextPageParam: (page) => page.next_cursor,
  });
}

export function useExecution(id: string | null) {
  return useQuery({
    queryKey: ["n8n", "execution", id],
    enabled: id !== null,
    queryFn: ({ signal }) => api.get<Execution>(`${ROOT}/executions/${id}`, { signal }),
  });
}

export function useBackups(id: string) {
  return useQuery({
    queryKey: ["n8n", "backups", id],
    queryFn: ({ signal }) => api.get<{ backups: Backup[] }>(`${one(id)}/backups`, { signal }),
  });
}

export function useComparison(backup: string) {
  return useQuery({
    queryKey: ["n8n", "comparison", backup],
    queryFn: ({ signal }) =>
      api.get<{ same: boolean; exists: boolean; difference: Difference }>(`${ROOT}/backups/${backup}`, {
        signal,
      }),
  });
}

export function rehearse(
  id: string,
  body: { patch: Operation[]; execution: string; run_for_real: string[] },
): Promise<Rehearsed> {
  return api.post<Rehearsed>(`${one(id)}/rehearsals`, body);
}

export interface Changed extends WithTexts<"steps" | "notes"> {
  workflow_id: string;
}

/** Saves a change that was tried, unless the workflow has changed since. */
export async function save(
  id: string,
  body: { patch: Operation[]; version_id: string | null },
): Promise<Changed> {
  const done = await api.patch<Changed>(one(id), body);
  await queryClient.invalidateQueries({ queryKey: ["n8n"] });
  return done;
}

export async function restore(backup: string): Promise<Changed> {
  const done = await api.post<Changed>(`${ROOT}/backups/${backup}/restore`);
  await queryClient.invalidateQueries({ queryKey: ["n8n"] });
  return done;
}
