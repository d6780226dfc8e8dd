/** The signed-in user. */
import { useQuery } from "@tanstack/react-query";
import { api } from "../api";

interface Me {
  id: string;
  admin: boolean;
  authentication: "none" | "required";
}

export function useMe(): Me | undefined {
  return useQuery({
    queryKey: ["me"],
    staleTime: 5 * 60_000,
    queryFn: ({ signal }) => api.get<Me>("/api/me", { signal }),
  }).data;
}

/** Reloads the page, so that nothing of the previous user stays in memory. */
export async function signIn(token: string): Promise<void> {
  await api.post("/api/login", { token });
  location.reload();
}

const KEPT = new Set(["chie.language", "chie.theme"]);

export async function signOut(): Promise<void> {
  await api.post("/api/logout");
  try {
    for (const key of Object.keys(localStorage)) if (!KEPT.has(key)) localStorage.removeItem(key);
    sessionStorage.clear();
  } catch {
    // without storage there is nothing to clear
  }
  location.reload();
}
