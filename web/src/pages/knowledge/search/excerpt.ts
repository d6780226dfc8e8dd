import type { Ranges } from "../../../ui/highlighted";

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

/** Markdown syntax to remove; the text of a link or image stays. */
const SYNTAX = [
  /^[ \t]*(?:```|~~~).*$\n?/gm,
  /^[ \t]*(?:#{1,6}|>+)[ \t]+/gm,
  /^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)*\|?[ \t]*$\n?/gm,
  /\*\*|__|~~|`/g,
  /!?\[(?=[^\]\n]*\]\([^)\n]*\))/g,
  /(?<=\[[^\]\n]*)\]\([^)\n]*\)/g,
];

/**
 * A passage without its Markdown syntax, and its ranges adjusted. Ranges count code points, as Python does. Syntax that
 * was itself matched by the search stays.
 */
export function plainText(text: string, ranges: Ranges): { text: string; ranges: Ranges } {
  const characters = [...text];
  const removed = new Array<boolean>(characters.length).fill(false);
  const offsets = codePointOffsets(text);
  const found = (from: number, to: number) => ranges.some(([start, end]) => start < to && end > from);
  for (const pattern of SYNTAX) {
    for (const { index, 0: match } of text.matchAll(pattern)) {
      const [from, to] = [offsets[index] ?? 0, offsets[index + match.length] ?? characters.length];
      if (!found(from, to)) removed.fill(true, from, to);
    }
  }
  const before: number[] = [0];
  for (const [index, isRemoved] of removed.entries()) before.push((before[index] ?? 0) + (isRemoved ? 0 : 1));
  return {
    text: characters.filter((_, index) => !removed[index]).join(""),
    ranges: ranges.map(([from, to]) => [before[from] ?? 0, before[to] ?? 0]),
  };
}

/** The number of code points before each UTF-16 index. */
function codePointOffsets(text: string): number[] {
  const offsets: number[] = [];
  let count = 0;
  for (const character of text) {
    for (let unit = 0; unit < character.length; unit += 1) offsets.push(count);
    count += 1;
  }
  return [...offsets, count];
}
