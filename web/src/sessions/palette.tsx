import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { chatText } from "../i18n/chat";
import { language, useLanguage, useText } from "../i18n/language";
import { sessionsText } from "../i18n/sessions";
import { shellText } from "../i18n/shell";
import { PAGES } from "../pages/registry";
import { go, hrefTo } from "../route";
import { theme } from "../theme";
import { Modal } from "../ui/dialog";
import { useComposition } from "../ui/field";
import { Icon, type IconName } from "../ui/icon";
import { useRemoved, useSessions } from "./client";

interface Command {
  key: string;
  icon: IconName;
  label: string;
  run: () => void;
}

/** Pages, settings and sessions in one searchable list. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const t = useText(sessionsText);
  const id = useId();
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const commands = useCommands(query.trim());
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
    <Modal className="palette" label={t.palette} onClose={onClose}>
      <input
        className="palette-input"
        data-autofocus
        role="combobox"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={commands.length ? `${id}-${chosen}` : undefined}
        aria-label={t.paletteField}
        placeholder={t.paletteField}
        autoComplete="off"
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(0);
        }}
        {...composition}
      />
      <div ref={list} className="palette-list" role="listbox" id={`${id}-list`} aria-label={t.palette}>
        {commands.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus and the keys
          <div
            key={command.key}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            className="palette-item"
            onPointerMove={() => setAt(index)}
            onClick={() => run(command)}
          >
            <Icon name={command.icon} />
            <span className="ellipsis">{command.label}</span>
          </div>
        ))}
      </div>
      {!commands.length && <p className="session-note">{t.paletteNone}</p>}
      <div className="palette-foot">{t.paletteHint}</div>
    </Modal>
  );
}

function useCommands(query: string): Command[] {
  const t = useText(sessionsText);
  const shell = useText(shellText);
  const chat = useText(chatText);
  const now = useLanguage();
  const { data } = useSessions(query);
  const removed = useRemoved();
  return useMemo(() => {
    const fixed: Command[] = [
      { key: "new", icon: "plus", label: chat.newChat, run: () => go(hrefTo("chat")) },
      ...PAGES.map((page) => ({
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
    const remaining = (data?.pages[0]?.sessions ?? []).filter((session) => !removed.has(session.session_id));
    const sessions = remaining.slice(0, 20).map<Command>((session) => ({
      key: session.session_id,
      icon: "chat",
      label: session.title || t.untitled,
      run: () => go(hrefTo("chat", session.session_id)),
    }));
    const needle = fold(query);
    return [...fixed.filter((command) => fold(command.label).includes(needle)), ...sessions];
  }, [t, shell, chat, now, data, removed, query]);
}

/** Ignores width and case, as the server's search does. */
function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}
