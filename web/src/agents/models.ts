import { useQuery } from "@tanstack/react-query";
import type { WithOptionalText } from "../../core/server-message";
import { api } from "../api";

/** A number in a range, or one of `values`. */
export interface ModelParameter {
  name: "temperature" | "max_tokens" | "reasoning_effort";
  minimum: number | null;
  maximum: number | null;
  values: string[];
}

export interface Model {
  id: string;
  name: string;
  sees_images: boolean;
  parameters: ModelParameter[];
}

/** One that cannot be asked says why in `error`. */
export interface ModelEndpoint extends WithOptionalText<"error"> {
  id: string;
  name: string;
  models: Model[];
}

const FRESH_MS = 5_000;

/** `refetchInterval` keeps the states true while they are shown. */
export function useModels(options: { enabled?: boolean; refetchInterval?: number } = {}) {
  return useQuery({
    ...options,
    queryKey: ["models"],
    queryFn: ({ signal }) => api.get<{ endpoints: ModelEndpoint[] }>("/api/models", { signal }),
    staleTime: FRESH_MS,
  });
}

/** The model of a reference, and its endpoint. */
export function findModel(endpoints: readonly ModelEndpoint[], id: string) {
  const endpoint = endpoints.find((one) => id.startsWith(`${one.id}/`));
  return { endpoint, model: endpoint?.models.find((one) => one.id === id) };
}
