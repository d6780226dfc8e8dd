/** Searching a text without regard to case and width, as the server does: `ＮＧＩＮＸ` finds `nginx`, `ﾃﾞ` finds `デ`. */
type Span = readonly [start: number, end: number];

/** A character with what is normalised together with it: combining marks, and Korean letters of one syllable. */
const LETTER = /[\s\S][\p{M}\uff9e\uff9f\u1160-\u11ff\ud7b0-\ud7ff\uffa0-\uffdc]*/gu;
/** Characters that may have another length after folding although none of their neighbours has. */
const IRREGULAR = /[\p{M}\uff9e\uff9f\u1160-\u11ff\ud7b0-\ud7ff\uffa0-\uffdc\u{10000}-\u{10ffff}]/u;

export function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase().replaceAll("ß", "ss").replaceAll("ς", "σ");
}

/** The positions of every match in `text`, disjoint and in order. `needle` is folded. */
export function occurrences(text: string, needle: string): Span[] {
  if (!needle) return [];
  const whole = fold(text);
  if (!whole.includes(needle)) return [];
  const { starts, ends } = positions(text, whole);
  const found: Span[] = [];
  for (let at = whole.indexOf(needle); at >= 0; at = whole.indexOf(needle, at + needle.length)) {
    const last = at + needle.length - 1;
    found.push([starts?.[at] ?? at, ends?.[last] ?? last + 1]);
  }
  return found;
}

/** The start and end in `text` of each character of the folded text; none where they are the same. */
function positions(text: string, whole: string): { starts?: number[]; ends?: number[] } {
  if (whole.length === text.length && !IRREGULAR.test(text)) return {};
  const starts: number[] = [];
  const ends: number[] = [];
  for (const { 0: letter, index } of text.matchAll(LETTER)) {
    for (let count = fold(letter).length; count > 0; count -= 1) {
      starts.push(index);
      ends.push(index + letter.length);
    }
  }
  return { starts, ends };
}
