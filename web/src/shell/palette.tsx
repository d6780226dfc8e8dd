import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from "react";
import { fold } from "../../core/text-search";
import { api } from "../api";
import { language, useLanguage, useText } from "../i18n/language";
import { chatText } from "../i18n/strings/chat";
import { paletteText } from "../i18n/strings/palette";
import { sessionsText } from "../i18n/strings/sessions";
import { shellText } from "../i18n/strings/shell";
import { go, hrefTo, parseRoute } from "../route";
import { useRemoved, useSessions } from "../sessions/client";
import { findHref, PassageLine, sessionHref } from "../sessions/passage";
import { theme } from "../theme";
import { Modal } from "../ui/dialog";
import { useComposition } from "../ui/field";
import { Highlighted, type Ranges } from "../ui/highlighted";
import { Icon, type IconName } from "../ui/icon";
import { useDebounced } from "../ui/use-debounced";
import type { PageEntry } from "./page-entry";

interface Command {
  key: string;
  icon: IconName;
  label: string;
  /** Shown instead of the label, and what is below it. */
  shown?: ReactNode;
  below?: ReactNode;
  run: () => void;
}

interface Group {
  name: string;
  commands: Command[];
}

interface FoundNote {
  hit: { id: string; title: string; score: number };
  highlights: { title: Ranges; content: Ranges };
}

const MAX_SESSIONS = 20;
const MAX_FOUND = 5; // the notes come after them; the sidebar finds all
const MAX_NOTES = 6;
/** A note that has none of the words is shown from this similarity. */
const MIN_SCORE = 0.6;

/** Pages, settings, conversations and notes in one searchable list. */
export default function Palette({ pages, onClose }: { pages: readonly PageEntry[]; onClose: () => void }) {
  const t = useText(paletteText);
  const id = useId();
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const groups = useGroups(query.trim(), pages);
  const commands = groups.flatMap((group) => group.commands);
  const chosen = Math.min(at, Math.max(0, commands.length - 1));
  const list = useRef<HTMLDivElement>(null);
  const run = (command: Command | undefined) => {
    onClose();
    command?.run();
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !commands.length) return;
    event.preventDefault();
    setAt((chosen + step + commands.length) % commands.length);
  };
  const composition = useComposition<HTMLInputElement>({ onEnter: () => run(commands[chosen]) }, move);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls to the chosen command
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return (
    <Modal className="palette" label={t.title} onClose={onClose}>
      <input
        className="palette-input"
        data-autofocus
        role="combobox"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={commands.length ? `${id}-${chosen}` : undefined}
        aria-label={t.field}
        placeholder={t.field}
        autoComplete="off"
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(0);
        }}
        {...composition}
      />
      <div ref={list} className="palette-list" role="listbox" id={`${id}-list`} aria-label={t.title}>
        {groups.map((group) => (
          <div key={group.name} role="group" aria-label={group.name}>
            {groups.length > 1 && (
              <div className="palette-group" aria-hidden="true">
                {group.name}
              </div>
            )}
            {group.commands.map((command) => {
              const index = commands.indexOf(command);
              return (
                <Option
                  key={command.key}
                  id={`${id}-${index}`}
                  command={command}
                  chosen={index === chosen}
                  onPoint={() => setAt(index)}
                  onRun={() => run(command)}
                />
              );
            })}
          </div>
        ))}
      </div>
      {!commands.length && <p className="session-note">{t.none}</p>}
      <div className="palette-foot">{t.hint}</div>
    </Modal>
  );
}

function Option({
  id,
  command,
  chosen,
  onPoint,
  onRun,
}: {
  id: string;
  command: Command;
  chosen: boolean;
  onPoint: () => void;
  onRun: () => void;
}) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus and the keys
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={chosen}
      className="palette-item"
      onPointerMove={onPoint}
      onClick={onRun}
    >
      <Icon name={command.icon} />
      <span className="palette-text">
        <span className="ellipsis">{command.shown ?? command.label}</span>
        {command.below}
      </span>
    </div>
  );
}

/** The groups that have something for the query. */
function useGroups(query: string, pages: readonly PageEntry[]): Group[] {
  const t = useText(paletteText);
  const { sessions: conversations } = useText(sessionsText);
  const commands = useFixedCommands(pages);
  const searched = useDebounced(query);
  const sessions = useSessionCommands(searched);
  const notes = useFoundNotes(searched).map<Command>(({ hit, highlights }) => ({
    key: `note-${hit.id}`,
    icon: "book",
    label: hit.title,
    shown: <Highlighted text={hit.title} ranges={highlights.title} />,
    run: () => go(hrefTo("knowledge", hit.id)),
  }));
  const needle = fold(query);
  return [
    { name: t.commands, commands: commands.filter(({ label }) => fold(label).includes(needle)) },
    { name: conversations, commands: sessions },
    { name: t.notes, commands: query ? notes : [] },
  ].filter((group) => group.commands.length > 0);
}

function useSessionCommands(query: string): Command[] {
  const t = useText(sessionsText);
  const { data } = useSessions(query);
  const removed = useRemoved();
  return useMemo(() => {
    const remaining = (data?.pages[0]?.sessions ?? []).filter((session) => !removed.has(session.session_id));
    return remaining.slice(0, query ? MAX_FOUND : MAX_SESSIONS).map((session) => ({
      key: session.session_id,
      icon: "chat",
      label: session.title || t.untitled,
      below: session.passage && <PassageLine passage={session.passage} />,
      run: () => go(sessionHref(session, query)),
    }));
  }, [t, data, removed, query]);
}

function useFixedCommands(pages: readonly PageEntry[]): Command[] {
  const t = useText(paletteText);
  const { findIn } = useText(sessionsText);
  const shell = useText(shellText);
  const chat = useText(chatText);
  const now = useLanguage();
  return useMemo(() => {
    const { page, rest } = parseRoute(location.hash);
    const [session] = page === "chat" ? rest : [];
    const find: Command[] = session
      ? [{ key: "find", icon: "search", label: findIn, run: () => go(findHref(session)) }]
      : [];
    return [
      { key: "new", icon: "plus", label: chat.newChat, run: () => go(hrefTo("chat")) },
      ...find,
      ...pages.map((page) => ({
        key: page.path,
        icon: page.icon,
        label: t.goTo(shell[page.label]),
        run: () => go(hrefTo(page.path)),
      })),
      {
        key: "language",
        icon: "globe",
        label: t.switchLanguage,
        run: () => language.set(now === "ja" ? "en" : "ja"),
      },
      { key: "light", icon: "sun", label: t.light, run: () => theme.set("light") },
      { key: "dark", icon: "moon", label: t.dark, run: () => theme.set("dark") },
      { key: "auto", icon: "contrast", label: t.system, run: () => theme.set("auto") },
    ];
  }, [t, findIn, shell, chat, now, pages]);
}

/** The best notes for a query. The request of a query that is no longer typed is cancelled. */
function useFoundNotes(query: string): FoundNote[] {
  const { data } = useQuery({
    queryKey: ["knowledge", "search", "palette", query],
    enabled: query !== "",
    placeholderData: query ? keepPreviousData : undefined,
    queryFn: ({ signal }) =>
      api.get<{ hits: FoundNote[] }>("api/knowledge/search", {
        query: { q: query, limit: MAX_NOTES },
        signal,
      }),
  });
  if (!query) return NO_NOTES;
  return (data?.hits ?? NO_NOTES).filter(
    ({ hit, highlights }) =>
      highlights.title.length + highlights.content.length > 0 || hit.score >= MIN_SCORE,
  );
}

const NO_NOTES: FoundNote[] = [];
