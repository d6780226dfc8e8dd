import type { Ranges } from "./notes";

/** Marks of Markdown that a reader does not want to see; the named part of a link or picture stays. */
const MARKS = [
  /^[ \t]*(?:```|~~~).*$\n?/gm,
  /^[ \t]*(?:#{1,6}|>+)[ \t]+/gm,
  /^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)*\|?[ \t]*$\n?/gm,
  /\*\*|__|~~|`/g,
  /!?\[(?=[^\]\n]*\]\([^)\n]*\))/g,
  /(?<=\[[^\]\n]*)\]\([^)\n]*\)/g,
];

/**
 * A passage without the marks of its Markdown. Ranges count characters, as the house does; a mark that is itself what
 * was found stays.
 */
export function readable(text: string, ranges: Ranges): { text: string; ranges: Ranges } {
  const characters = [...text];
  const gone = new Array<boolean>(characters.length).fill(false);
  const places = characterPlaces(text);
  const found = (from: number, to: number) => ranges.some(([start, end]) => start < to && end > from);
  for (const mark of MARKS) {
    for (const { index, 0: words } of text.matchAll(mark)) {
      const [from, to] = [places[index] ?? 0, places[index + words.length] ?? characters.length];
      if (!found(from, to)) gone.fill(true, from, to);
    }
  }
  const before: number[] = [0];
  for (const [place, away] of gone.entries()) before.push((before[place] ?? 0) + (away ? 0 : 1));
  return {
    text: characters.filter((_, place) => !gone[place]).join(""),
    ranges: ranges.map(([from, to]) => [before[from] ?? 0, before[to] ?? 0]),
  };
}

/** For each place that JavaScript counts, how many characters come before it. */
function characterPlaces(text: string): number[] {
  const places: number[] = [];
  let count = 0;
  for (const character of text) {
    for (let unit = 0; unit < character.length; unit += 1) places.push(count);
    count += 1;
  }
  return [...places, count];
}
