/** Who the house takes the reader for. */
import { useQuery } from "@tanstack/react-query";
import { api } from "../api";

export interface Me {
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

/** Everything is loaded anew, so that nothing of whoever was here before stays in the page. */
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
    // a browser that keeps nothing has nothing to forget
  }
  location.reload();
}
