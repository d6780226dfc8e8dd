import { QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api";
import { houseIsBack } from "./away";

const isAway = (error: unknown) => error instanceof ApiError && error.offline;

let awaited = false;

/** What had no answer is asked again once the house is back. Until then the page goes on saying that it is away. */
async function askAgain(error: unknown): Promise<void> {
  if (awaited || !isAway(error)) return;
  awaited = true;
  await houseIsBack();
  awaited = false;
  await queryClient.refetchQueries({ type: "active", predicate: ({ state }) => isAway(state.error) });
}

/** What the caller did wrong does not get better by asking again. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: (error) => void askAgain(error) }),
  defaultOptions: {
    queries: {
      networkMode: "always", // the house is on this machine, whatever the browser thinks of the internet
      staleTime: 15_000,
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status < 500),
    },
  },
});
