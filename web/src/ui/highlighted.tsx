import type { ReactNode } from "react";

export type Ranges = [number, number][];

/** The text with the given ranges highlighted. Ranges count code points, as Python does. */
export function Highlighted({ text, ranges }: { text: string; ranges: Ranges }) {
  if (ranges.length === 0) return text;
  const characters = [...text];
  const parts: ReactNode[] = [];
  let at = 0;
  for (const [start, end] of ranges) {
    parts.push(
      characters.slice(at, start).join(""),
      <mark key={start}>{characters.slice(start, end).join("")}</mark>,
    );
    at = end;
  }
  parts.push(characters.slice(at).join(""));
  return parts;
}
