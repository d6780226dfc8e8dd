import { QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api";
import { reconnected } from "./connectivity";

const isOffline = (error: unknown) => error instanceof ApiError && error.offline;

let waiting = false;

/** Refetches the queries without a response once the server is reachable; until then the page shows it as offline. */
async function refetchWhenReconnected(error: unknown): Promise<void> {
  if (waiting || !isOffline(error)) return;
  waiting = true;
  await reconnected();
  waiting = false;
  await queryClient.refetchQueries({ type: "active", predicate: ({ state }) => isOffline(state.error) });
}

/** Retries server errors only: a client error would come back the same. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: (error) => void refetchWhenReconnected(error) }),
  defaultOptions: {
    queries: {
      networkMode: "always", // Chie may run on this machine, which needs no internet connection
      staleTime: 15_000,
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status < 500),
    },
  },
});
