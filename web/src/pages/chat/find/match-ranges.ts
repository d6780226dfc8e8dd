import { fold, occurrences } from "../../../../core/text-search";
import { messageElement } from "../messages/reveal";
import { BLOCKS } from "./visible-text";

/** The elements of a message that `sections.ts` has the texts of. */
const SECTIONS = ".bubble-text, .reasoning-text, .tool-text, .markdown-block, .plain-text";
const SKIPPED =
  ".code-head, .code-note, .formula, .source-mark, .picture, [popover], [data-footnote-backref], #footnote-label";

/** The matches in a rendered message, in the order of its texts. */
export function rangesIn(messageId: string, query: string): Range[] {
  const message = messageElement(messageId);
  if (!message) return [];
  const needle = fold(query);
  return [...message.querySelectorAll(SECTIONS)]
    .filter((section) => !section.closest("[popover]"))
    .flatMap((section) => rangesOf(section, needle));
}

function rangesOf(section: Element, needle: string): Range[] {
  const nodes: { node: Text; start: number }[] = [];
  let text = "";
  const read = (node: Node) => {
    if (node instanceof Text) {
      nodes.push({ node, start: text.length });
      text += node.data;
      return;
    }
    if (!(node instanceof Element) || node.matches(SKIPPED)) return;
    const block = BLOCKS.has(node.localName);
    if (block) text += "\n";
    node.childNodes.forEach(read);
    if (block) text += "\n";
  };
  section.childNodes.forEach(read);
  return occurrences(text, needle).flatMap(([start, end]) => {
    const range = new Range();
    const first = nodes.findLast((one) => one.start <= start);
    const last = nodes.findLast((one) => one.start < end);
    if (!first || !last) return [];
    range.setStart(first.node, Math.min(start - first.start, first.node.length));
    range.setEnd(last.node, Math.min(end - last.start, last.node.length));
    return [range];
  });
}

/** Opens what is folded around a match. */
export function unfold(range: Range): void {
  const element = range.startContainer.parentElement;
  const details = element?.closest("details");
  if (details) details.open = true;
  if (element?.closest(".bubble-text.folded"))
    element.closest(".bubble")?.querySelector<HTMLElement>("button[aria-expanded=false]")?.click();
}

/** Scrolls a match into the middle of the conversation, unless it is in view. */
export function bringIntoView(range: Range): void {
  const element = range.startContainer.parentElement;
  const scroller = element?.closest<HTMLElement>(".messages");
  if (!element || !scroller) return;
  const inner = element.closest<HTMLElement>("pre, .reasoning-text, .table");
  if (inner && !within(range, inner)) center(range, inner);
  if (!within(range, scroller)) center(range, scroller);
}

function within(range: Range, scroller: Element): boolean {
  const [box, frame] = [range.getBoundingClientRect(), scroller.getBoundingClientRect()];
  return box.top >= frame.top && box.bottom <= frame.bottom;
}

function center(range: Range, scroller: Element): void {
  const [box, frame] = [range.getBoundingClientRect(), scroller.getBoundingClientRect()];
  scroller.scrollTop += box.top - frame.top - (frame.height - box.height) / 2;
}
