/**
 * Splits Markdown into blocks that can be parsed on their own, so that a streaming answer re-parses only its last one.
 * Text with link definitions or footnotes, which other blocks may refer to, stays in one block.
 */
const DEFINITION = /^ {0,3}\[[^\]]{1,999}\]:/m;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const LIST = /^ {0,3}([-*+]|\d{1,9}[.)])(\s|$)/;

export function splitBlocks(text: string): string[] {
  if (DEFINITION.test(text)) return [text];
  const blocks: string[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  let blank = false;
  for (const line of text.split("\n")) {
    if (blank && fence === null && startsBlock(line, lines)) {
      blocks.push(lines.join("\n"));
      lines = [];
    }
    lines.push(line);
    fence = fenceAfter(fence, line);
    blank = line.trim() === "";
  }
  if (lines.some((line) => line.trim())) blocks.push(lines.join("\n"));
  return blocks;
}

function startsBlock(line: string, before: string[]): boolean {
  if (line.trim() === "" || /^\s/.test(line)) return false;
  return !(LIST.test(before.find((one) => one.trim()) ?? "") && LIST.test(line));
}

function fenceAfter(fence: string | null, line: string): string | null {
  const mark = FENCE.exec(line)?.[1];
  if (!mark) return fence;
  if (fence === null) return mark;
  return mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark ? null : fence;
}
