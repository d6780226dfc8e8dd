/** Completion of the filters that a query may have: `tag:`, `author:`, `space:`, `after:`, `before:` and `at:`. */

import { localDay } from "../../../i18n/dates";

type FilterName = "tag" | "author" | "space" | "after" | "before" | "at";

/** The filter whose value ends at the caret. */
export interface OpenFilter {
  name: FilterName;
  /** Where the value begins in the text, its opening quote included. */
  start: number;
  typed: string;
}

export interface Suggestion {
  value: string;
  hint?: string;
}

const MAX_SUGGESTIONS = 8;
const OPEN = /(?:^|\s)(?:-(?=tag))?(tag|author|space|after|before|at)[:：]("[^"]*|[^\s"]*)$/i;
const DATE = /^\d{4}(?:[-/]\d{1,2}(?:[-/]\d{1,2})?)?$/;

export function openFilter(text: string, caret: number): OpenFilter | null {
  const found = OPEN.exec(text.slice(0, caret));
  if (!found) return null;
  const value = found[2] ?? "";
  const name = (found[1] ?? "").toLowerCase() as FilterName;
  return { name, start: caret - value.length, typed: value.replace(/^"/, "") };
}

/** Values that begin with what was typed, then those that contain it, in the order given. */
export function matching(typed: string, values: readonly Suggestion[]): Suggestion[] {
  const part = folded(typed).replace(/^#/, "");
  const found = values.filter(({ value }) => folded(value).includes(part));
  const first = found.filter(({ value }) => folded(value).startsWith(part));
  const ordered = [...first, ...found.filter((one) => !first.includes(one))].slice(0, MAX_SUGGESTIONS);
  return ordered.length === 1 && folded(ordered[0]?.value ?? "") === part ? [] : ordered;
}

/** The text with the value of the filter replaced, and the caret behind it. */
export function completed(
  text: string,
  caret: number,
  { start }: OpenFilter,
  value: string,
): { text: string; caret: number } {
  const quoted = /[\s"“”]/.test(value) ? `"${value.replaceAll('"', "")}"` : value;
  const before = `${text.slice(0, start)}${quoted} `;
  return { text: before + text.slice(caret).replace(/^"?\s*/, ""), caret: before.length };
}

/** The text without a filter at its end that is still being typed: `tag:` alone, or the beginning of a date. */
export function searchable(text: string): string {
  const open = openFilter(text, text.length);
  if (!open) return text.trim();
  const isDate = open.name === "after" || open.name === "before" || open.name === "at";
  const unfinished = isDate ? /^[\d/-]*$/.test(open.typed) && !DATE.test(open.typed) : open.typed === "";
  return (unfinished ? text.slice(0, open.start).replace(/\S*$/, "") : text).trim();
}

/** Dates as examples: a week ago, this month, this year. */
export function dates(now: Date, hints: { week: string; month: string; year: string }): Suggestion[] {
  return [
    { value: localDay(now, 7), hint: hints.week },
    { value: localDay(now).slice(0, 7), hint: hints.month },
    { value: localDay(now).slice(0, 4), hint: hints.year },
  ];
}

/** Days in the past as examples for `at:`. */
export function pastDays(now: Date, hints: { week: string; month: string; year: string }): Suggestion[] {
  return [
    { value: localDay(now, 7), hint: hints.week },
    { value: localDay(now, 30), hint: hints.month },
    { value: localDay(now, 365), hint: hints.year },
  ];
}

/** The date of a filter `at:`: the search shows what was known then. As on the server, the last one counts. */
export function asOf(text: string): string | null {
  const found = [...text.matchAll(/(?:^|\s)at[:：]"?((?:19|20)\d\d(?:[-/][^\s"]*)?)(?=["\s]|$)/gi)].at(-1);
  return found?.[1] ?? null;
}

/** The text without `at:` filters. */
export function withoutAsOf(text: string): string {
  return text.replace(/(^|\s)at[:：]"?(?:19|20)\d\d(?:[-/][^\s"]*)?"?(?=\s|$)/gi, "$1").trim();
}

function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}
