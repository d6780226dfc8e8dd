import "./find.css";
import { useEffect, useMemo, useRef, useState } from "react";
import { branch, type Conversation } from "../../../../core/conversation";
import { useText } from "../../../i18n/language";
import { findText } from "../../../i18n/strings/find";
import { IconButton } from "../../../ui/button";
import { SearchField } from "../../../ui/field";
import { usePairs, withPairs } from "../side-by-side/side-by-side";
import { type Match, markMatches, showMatch } from "./highlights";
import { type Matches, useMatches } from "./use-matches";

interface Props {
  conversation: Conversation;
  /** The words to begin with, and the message to begin at. */
  words: string;
  message: string | null;
  onClose: () => void;
}

/** Finds text in every message on the screen's branch and beside it, also in those that are not rendered or are folded. */
export default function FindBar({ conversation, words, message, onClose }: Props) {
  const t = useText(findText);
  const [query, setQuery] = useState(words);
  const { messages, tip } = conversation;
  const pairs = usePairs();
  const shown = useMemo(() => withPairs(pairs, messages, branch(messages, tip)), [pairs, messages, tip]);
  const matches = useMatches(shown, query);
  const order = useMemo(() => new Map(shown.map(({ id }, index) => [id, index])), [shown]);
  const [at, move] = useCurrent(matches, order, message);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  const current = matches ? matchAt(matches, at) : null;
  const total = matches?.total ?? 0;
  const counted = query.trim() !== "" && matches?.query === query.trim();
  return (
    <search className="find-bar" aria-label={t.field}>
      <SearchField
        ref={field}
        label={t.field}
        value={query}
        onChange={(event) => setQuery(event.target.value)}
        onEnter={(event) => {
          event.preventDefault();
          move(event.shiftKey ? -1 : 1);
        }}
        onEscape={(event) => {
          event.preventDefault();
          onClose();
        }}
      />
      <Marks matches={matches} current={current} />
      <span className="find-count" role="status">
        {counted && (
          <>
            <span aria-hidden="true">{total ? t.count(at + 1, total) : t.none}</span>
            <span className="hidden-text">{total ? t.spoken(at + 1, total) : t.none}</span>
          </>
        )}
      </span>
      <IconButton small icon="up" label={t.previous} disabled={!total} onClick={() => move(-1)} />
      <IconButton small icon="down" label={t.next} disabled={!total} onClick={() => move(1)} />
      <IconButton small icon="close" label={t.close} onClick={onClose} />
    </search>
  );
}

/** The position of the current match among all, and the function that moves it. It stays where it is as messages arrive. */
function useCurrent(
  matches: Matches | null,
  order: ReadonlyMap<string, number>,
  message: string | null,
): [number, (step: number) => void] {
  const [chosen, setChosen] = useState<{ query: string; match: Match } | null>(null);
  if (!matches?.total) return [0, () => undefined];
  const kept = chosen?.query === matches.query ? indexOf(matches, chosen.match) : -1;
  const first = () => indexFrom(matches, order, order.get(message ?? firstVisible()) ?? 0);
  const at = kept >= 0 ? kept : first();
  const choose = (index: number) => {
    const match = matchAt(matches, index);
    if (match) setChosen({ query: matches.query, match });
  };
  if (kept < 0) choose(at);
  return [at, (step) => choose((at + step + matches.total) % matches.total)];
}

function matchAt({ found }: Matches, at: number): Match | null {
  let before = 0;
  for (const { id, count } of found) {
    if (at < before + count) return { id, nth: at - before };
    before += count;
  }
  return null;
}

function indexOf({ found }: Matches, { id, nth }: Match): number {
  let before = 0;
  for (const one of found) {
    if (one.id === id) return nth < one.count ? before + nth : -1;
    before += one.count;
  }
  return -1;
}

/** The first match in a message at or after the given one, else the first of all. */
function indexFrom({ found }: Matches, order: ReadonlyMap<string, number>, start: number): number {
  let before = 0;
  for (const { id, count } of found) {
    if ((order.get(id) ?? 0) >= start) return before;
    before += count;
  }
  return 0;
}

function firstVisible(): string {
  const scroller = document.querySelector(".messages");
  const top = scroller?.getBoundingClientRect().top ?? 0;
  const items = [...(scroller?.querySelectorAll<HTMLElement>(".messages-item") ?? [])];
  return items.find((item) => item.getBoundingClientRect().bottom > top)?.dataset.message ?? "";
}

function Marks({ matches, current }: { matches: Matches | null; current: Match | null }) {
  const query = matches?.query ?? "";
  const { id, nth } = current ?? { id: null, nth: 0 };
  useEffect(() => markMatches(query, id === null ? null : { id, nth }), [query, id, nth]);
  useEffect(() => {
    if (id === null) return;
    let stale = false;
    void showMatch(query, { id, nth }, () => stale);
    return () => {
      stale = true;
    };
  }, [query, id, nth]);
  return null;
}
