import type { Ranges } from "../../ui/highlighted";

/** About `length` characters around the first highlight. */
export function excerpt(text: string, ranges: Ranges, length = 220): { text: string; ranges: Ranges } {
  const characters = [...text];
  if (characters.length <= length) return { text, ranges };
  const first = ranges[0]?.[0] ?? 0;
  const start = Math.max(0, Math.min(first - Math.floor(length / 4), characters.length - length));
  const end = start + length;
  const lead = start > 0 ? "…" : "";
  const shift = start - lead.length;
  return {
    text: lead + characters.slice(start, end).join("") + (end < characters.length ? "…" : ""),
    ranges: ranges
      .filter(([from, to]) => from >= start && to <= end)
      .map(([from, to]) => [from - shift, to - shift]),
  };
}
