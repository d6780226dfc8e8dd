import type { Part, ToolPart } from "../../../../core/answer";
import { type Citation, citationsOf, markSupported } from "../../../../core/citations";
import type { Message } from "../../../../core/conversation";
import { splitBlocks } from "../../../../core/markdown-blocks";
import { fold } from "../../../../core/text-search";
import { prettyResult } from "../tools/tool-card";
import { markdownText } from "./visible-text";

/** A part of a message as `elements.ts` finds it on the page. Both are computed when they are needed first. */
interface Section {
  letters: () => string;
  text: () => string;
}

const known = new WeakMap<Message, Section[]>();

/** The texts of a message that may contain the folded needle. Markdown is parsed only where that is possible. */
export function textsOf(message: Message, needle: string): string[] {
  const sections = known.get(message) ?? sectionsOf(message);
  known.set(message, sections);
  const letters = lettersOf(needle);
  return sections.filter((section) => section.letters().includes(letters)).map(({ text }) => text());
}

/** Without markup, which is neither a letter nor a digit, and without the addresses of links. */
function lettersOf(folded: string): string {
  return folded.replace(/\]\([^)]{0,2000}\)|[^\p{L}\p{N}]+/gu, "");
}

function sectionsOf(message: Message): Section[] {
  if (!message.answer) return message.text ? [plain(message.text)] : [];
  const citations = citationsOf(message.answer.parts);
  return message.answer.parts.flatMap((part) => ofPart(part, citations));
}

function ofPart(part: Part, citations: readonly Citation[]): Section[] {
  switch (part.type) {
    case "text":
      return splitBlocks(markSupported(part.text, citations)).map((block) => markdown(block, citations));
    case "tool":
      return ofTool(part).map(plain);
    default:
      return part.text ? [plain(part.text)] : [];
  }
}

/** Not its arguments, which are rendered once the call is opened. */
function ofTool({ logs, result }: ToolPart): string[] {
  return [...(logs ? [logs.join("\n")] : []), ...(result ? [prettyResult(result.content)] : [])];
}

function plain(source: string): Section {
  return { letters: once(() => lettersOf(fold(source))), text: () => source };
}

function markdown(source: string, citations: readonly Citation[]): Section {
  return { ...plain(source), text: once(() => markdownText(source, citations)) };
}

function once(compute: () => string): () => string {
  let value: string | null = null;
  return () => {
    value ??= compute();
    return value;
  };
}
