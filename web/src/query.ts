import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api";

/** What the caller did wrong does not get better by asking again. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: "always", // the house is on this machine, whatever the browser thinks of the internet
      staleTime: 15_000,
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status < 500),
    },
  },
});
