import { useQuery } from "@tanstack/react-query";
import { filledIn, variablesIn } from "../../../core/prompt-template";
import { api } from "../../api";
import type { chatText } from "../../i18n/strings/chat";
import { queryClient } from "../../query";
import type { Prompt } from "../chat/composer/suggestions";

export interface SavedPrompt {
  prompt_id: string;
  user_id: string;
  name: string;
  text: string;
  shared: boolean;
}

export interface PromptDraft {
  name: string;
  text: string;
  shared: boolean;
}

export function useSavedPrompts({ enabled = true } = {}) {
  return useQuery({
    queryKey: ["prompts"],
    queryFn: async ({ signal }) =>
      (await api.get<{ prompts: SavedPrompt[] }>("/api/prompts", { signal })).prompts,
    staleTime: 30_000,
    enabled,
  });
}

const path = (id: string) => `/api/prompts/${encodeURIComponent(id)}`;

export const library = {
  save: (draft: PromptDraft, id?: string) =>
    changed(id === undefined ? api.post("/api/prompts", draft) : api.patch(path(id), draft)),
  remove: (id: string) => changed(api.delete(path(id), { keepalive: true })),
  importAll: (file: unknown) =>
    changed(api.post<{ imported: number; existing: number }>("/api/prompts/import", file)),
};

async function changed<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } finally {
    void queryClient.invalidateQueries({ queryKey: ["prompts"] });
  }
}

/** As the message field and its dialog take it. */
export function asSuggestion(
  saved: SavedPrompt,
  t: Pick<typeof chatText.en, "savedPrompt" | "sharedPrompt">,
): Prompt {
  return {
    name: saved.prompt_id,
    title: saved.name,
    server: saved.shared ? t.sharedPrompt : t.savedPrompt,
    description: saved.text.trim().split("\n", 1)[0]?.slice(0, 200) ?? "",
    arguments: variablesIn(saved.text).map(({ name, preset, choices }) => ({
      name,
      title: name,
      description: "",
      required: preset !== "",
      preset: preset ?? "",
      choices,
    })),
    fill: (values) => filledIn(saved.text, values),
  };
}
