import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useText } from "../../../i18n/language";
import { knowledgeText } from "../../../i18n/strings/knowledge";
import { go } from "../../../route";
import { SearchField } from "../../../ui/field";
import { languageOf, useAuthors, useTags } from "../notes";
import { useSpaces } from "../spaces/spaces";
import { type View, viewHref } from "../view-state";
import {
  completed,
  dates,
  matching,
  type OpenFilter,
  openFilter,
  pastDays,
  type Suggestion,
  searchable,
} from "./query-filters";

const SEARCH_DELAY_MS = 120;

/** The query goes into the URL after a short pause, so that a search can be shared and returned to. */
export function Search({ view }: { view: View }) {
  const [text, setText] = useState(view.q);
  const sent = useRef(view.q);
  useEffect(() => {
    if (view.q !== sent.current) setText(view.q);
    sent.current = view.q;
  }, [view.q]);
  useEffect(() => {
    const q = searchable(text);
    if (q === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = q;
      go(viewHref({ q, tag: view.tag, space: view.space, map: false, links: false, inbox: false }), {
        replace: true,
      });
    }, SEARCH_DELAY_MS);
    return () => clearTimeout(timer);
  }, [text, view.tag, view.space]);
  return <FilterField text={text} setText={setText} />;
}

/** A search field that completes filters, as a combobox with a list of suggestions. */
function FilterField({ text, setText }: { text: string; setText: (text: string) => void }) {
  const t = useText(knowledgeText);
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [caret, setCaret] = useState<number | null>(null);
  const [at, setAt] = useState(0);
  const open = caret === null ? null : openFilter(text, caret);
  const found = useSuggestions(open);
  const chosen = Math.min(at, Math.max(0, found.length - 1));
  const expanded = found.length > 0;
  const follow = () => {
    setCaret(field.current?.selectionStart ?? null);
    setAt(0);
  };
  const choose = (suggestion: Suggestion | undefined) => {
    if (!open || caret === null || !suggestion) return;
    const next = completed(text, caret, open, suggestion.value);
    // At once: in a later frame the caret would jump back behind what has been typed since.
    flushSync(() => {
      setText(next.text);
      setCaret(null);
    });
    field.current?.focus();
    field.current?.setSelectionRange(next.caret, next.caret);
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !expanded) return;
    event.preventDefault();
    setAt((chosen + step + found.length) % found.length);
  };
  return (
    <div className="kn-search">
      <SearchField
        ref={field}
        label={t.search}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={expanded}
        aria-controls={expanded ? `${id}-list` : undefined}
        aria-activedescendant={expanded ? `${id}-${chosen}` : undefined}
        aria-describedby={`${id}-hint`}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          follow();
        }}
        onBlur={() => setCaret(null)}
        onKeyDown={move}
        onEnter={(event) => {
          if (!expanded) return;
          event.preventDefault();
          choose(found[chosen]);
        }}
        onEscape={(event) => {
          event.preventDefault(); // Chromium would clear the field
          if (expanded) setCaret(null);
          else setText("");
        }}
      />
      <p id={`${id}-hint`} className="kn-search-hint muted small">
        {t.filters} <code>tag:</code> <code>-tag:</code> <code>author:</code> <code>space:</code>{" "}
        <code>after:</code> <code>before:</code> <code>at:</code> <code>"{t.phrase}"</code>{" "}
        <code>-{t.word}</code>
      </p>
      {expanded && (
        <div className="kn-suggestions" role="listbox" id={`${id}-list`} aria-label={t.suggestions}>
          {found.map(({ value, hint }, index) => (
            <div
              key={value}
              id={`${id}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              className="kn-suggestion"
              lang={languageOf(value)}
              onPointerDown={(event) => {
                event.preventDefault();
                choose({ value });
              }}
            >
              <span>{value}</span>
              {hint && <span className="muted small">{hint}</span>}
            </div>
          ))}
        </div>
      )}
      <span role="status" className="hidden-text">
        {expanded ? t.suggestionCount(found.length) : ""}
      </span>
    </div>
  );
}

function useSuggestions(open: OpenFilter | null): Suggestion[] {
  const t = useText(knowledgeText);
  const tags = useTags();
  const known = useSpaces();
  const authors = useAuthors(open?.name === "author");
  if (!open) return [];
  if (open.name === "tag")
    return matching(
      open.typed,
      tags.data?.tags.map(({ tag, count }) => ({ value: tag, hint: t.notes(count) })) ?? [],
    );
  if (open.name === "space")
    return matching(
      open.typed,
      known.map(({ name, title }) => ({ value: name, hint: title })),
    );
  if (open.name === "author")
    return matching(
      open.typed,
      authors.data?.authors.map(({ author, count }) => ({ value: author, hint: t.notes(count) })) ?? [],
    );
  if (open.name === "at")
    return matching(
      open.typed,
      pastDays(new Date(), { week: t.weekAgo, month: t.monthAgo, year: t.yearAgo }),
    );
  return matching(open.typed, dates(new Date(), { week: t.weekAgo, month: t.thisMonth, year: t.thisYear }));
}
