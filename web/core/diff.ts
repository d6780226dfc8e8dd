/** What a text has that another has not, by lines, and by words within changed lines. */

export interface Part {
  kind: "same" | "added" | "removed";
  text: string;
}

/** The table of a comparison has at most this many cells; larger texts count as replaced. */
const MAX_CELLS = 1_000_000;

export function difference(before: string, after: string): Part[] {
  const parts: Part[] = [];
  let [removed, added] = ["", ""];
  const flush = () => {
    if (removed && added) parts.push(...compared(words(removed), words(added)));
    else if (removed || added) parts.push({ kind: removed ? "removed" : "added", text: removed || added });
    [removed, added] = ["", ""];
  };
  for (const part of compared(lines(before), lines(after))) {
    if (part.kind === "removed") removed += part.text;
    else if (part.kind === "added") added += part.text;
    else {
      flush();
      parts.push(part);
    }
  }
  flush();
  return joined(parts);
}

/** The existing text, and below it what only the other one says. */
export function mergedText(existing: string, other: string): string {
  const known = new Set(lines(existing).map((line) => line.trim()));
  const fresh = lines(other).filter((line) => line.trim() && !known.has(line.trim()));
  return fresh.length === 0 ? existing : `${existing.trimEnd()}\n\n${fresh.join("").trimEnd()}`;
}

function lines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

const segmenter = new Intl.Segmenter("ja", { granularity: "word" });

/** Also of Japanese, which has no blanks between words. */
function words(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** The longest common subsequence stays, everything else is removed or added. */
function compared(before: string[], after: string[]): Part[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let [end, last] = [before.length, after.length];
  while (end > start && last > start && before[end - 1] === after[last - 1]) {
    end--;
    last--;
  }
  return joined([
    ...before.slice(0, start).map((text): Part => ({ kind: "same", text })),
    ...middle(before.slice(start, end), after.slice(start, last)),
    ...before.slice(end).map((text): Part => ({ kind: "same", text })),
  ]);
}

function middle(before: string[], after: string[]): Part[] {
  const removed = (text: string): Part => ({ kind: "removed", text });
  const added = (text: string): Part => ({ kind: "added", text });
  if (before.length * after.length > MAX_CELLS) return [...before.map(removed), ...after.map(added)];
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      common[i * width + j] =
        before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const parts: Part[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [old, fresh] = [before[i] ?? "", after[j] ?? ""];
    if (i < before.length && j < after.length && old === fresh) {
      parts.push({ kind: "same", text: old });
      i++;
      j++;
    } else if (i < before.length && (j === after.length || at(i + 1, j) >= at(i, j + 1))) {
      parts.push(removed(old));
      i++;
    } else {
      parts.push(added(fresh));
      j++;
    }
  }
  return parts;
}

function joined(parts: Part[]): Part[] {
  const whole: Part[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (last?.kind === part.kind) last.text += part.text;
    else whole.push({ ...part });
  }
  return whole;
}
