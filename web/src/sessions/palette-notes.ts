import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api } from "../api";
import type { Ranges } from "../ui/highlighted";

export interface FoundNote {
  hit: { id: string; title: string; score: number };
  highlights: { title: Ranges; content: Ranges };
}

const MAX_NOTES = 6;
/** A note that has none of the words is shown from this similarity. */
const MIN_SCORE = 0.6;

/** The best notes for a query. The request of a query that is no longer typed is cancelled. */
export function useFoundNotes(query: string): FoundNote[] {
  const { data } = useQuery({
    queryKey: ["knowledge", "search", "palette", query],
    enabled: query !== "",
    placeholderData: query ? keepPreviousData : undefined,
    queryFn: ({ signal }) =>
      api.get<{ hits: FoundNote[] }>("api/knowledge/search", {
        query: { q: query, limit: MAX_NOTES },
        signal,
      }),
  });
  if (!query) return NONE;
  return (data?.hits ?? NONE).filter(
    ({ hit, highlights }) =>
      highlights.title.length + highlights.content.length > 0 || hit.score >= MIN_SCORE,
  );
}

const NONE: FoundNote[] = [];
