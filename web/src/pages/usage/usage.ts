/** What models have cost, and the limits of the month; docs/usage.md describes the routes. */
import { useQuery } from "@tanstack/react-query";
import { api } from "../../api";

export interface Sum {
  requests: number;
  estimated_requests: number;
  input_tokens: number;
  cached_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  unpriced_requests: number;
  cost: number;
}

export interface Group extends Sum {
  name: string;
  host: string;
}

export interface Report {
  first: string;
  last: string;
  since: string | null;
  total: Sum;
  days: Group[];
  models: Group[];
  agents: Group[];
  users: Group[];
}

export interface LimitState {
  scope: "user" | "team";
  kind: "tokens" | "cost";
  state: "ok" | "warning" | "reached";
  share: number;
  limit: number | null;
  used: number | null;
}

export interface MonthState {
  month: string;
  renews_at: string;
  limits: LimitState[];
}

export type Scope = "team" | "everyone" | "user";

export interface Limit {
  scope: Scope;
  user_id: string;
  tokens: number | null;
  cost: number | null;
}

export interface Limits {
  limits: Limit[];
  defaults: {
    user: { tokens: number | null; cost: number | null };
    team: { tokens: number | null; cost: number | null };
  };
}

/** The parameters of a report: a month of UTC, such as "2026-11". */
export function query(month: string, team: boolean) {
  return { first: `${month}-01`, last: `${month}-${daysIn(month)}`, scope: team ? "team" : "own" };
}

export function useReport(month: string, team: boolean) {
  return useQuery({
    queryKey: ["usage", "report", month, team],
    queryFn: ({ signal }) => api.get<Report>("api/usage", { signal, query: query(month, team) }),
  });
}

export const monthQuery = {
  queryKey: ["usage", "month"],
  queryFn: ({ signal }: { signal: AbortSignal }) => api.get<MonthState>("api/usage/month", { signal }),
};

export function useLimits(enabled: boolean) {
  return useQuery({
    queryKey: ["usage", "limits"],
    enabled,
    queryFn: ({ signal }) => api.get<Limits>("api/usage/limits", { signal }),
  });
}

export function daysIn(month: string): number {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number, 0)).getUTCDate();
}

/** The month `by` months later. */
export function shifted(month: string, by: number): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + by, 1)).toISOString().slice(0, 7);
}

export function thisMonth(): string {
  return new Date().toISOString().slice(0, 7);
}
