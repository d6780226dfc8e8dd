import "./sessions.css";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { type DateGroup, dateGroup, monthName } from "../i18n/dates";
import { useLanguage, useText } from "../i18n/language";
import { sessionsText } from "../i18n/strings/sessions";
import { go, hrefTo, useRoute } from "../route";
import { IconButton } from "../ui/button";
import { ErrorNotice, Skeletons } from "../ui/feedback";
import { SearchField } from "../ui/field";
import { lazyPage } from "../ui/lazy";
import { LazyDialog } from "../ui/lazy-dialog";
import { Menu, MenuItem } from "../ui/menu";
import { useDebounced } from "../ui/use-debounced";
import { type Session, useRemoved, useSessions } from "./client";
import { SessionRow } from "./session-row";

const ImportDialog = lazyPage(() => import("./import/import-dialog"));

const ROW_HEIGHT = 34;
const PASSAGE_HEIGHT = 84;
const GROUP_HEIGHT = 34;
const NAMED_GROUPS = ["pinned", "today", "yesterday", "week", "month"] as const;

type Group = DateGroup | "pinned";
type Row = { type: "group"; group: Group } | { type: "session"; session: Session };

/** Pinned sessions, then the others, newest first; a search shows all in one list, archived ones too. Only visible rows are rendered, and the next page is loaded ahead of scrolling. */
export function SessionList() {
  const t = useText(sessionsText);
  const [query, setQuery] = useState("");
  const searched = useDebounced(query.trim());
  const { data, error, isPending, isFetchingNextPage, hasNextPage, fetchNextPage, refetch } = useSessions(
    searched,
    searched ? {} : { pinned: false },
  );
  const pinned = useSessions("", { pinned: true, enabled: !searched }).data;
  const removed = useRemoved();
  const current = useRoute().rest[0];
  const rows = useDeferredValue(
    useMemo(
      () => (searched ? toRows(data, removed) : onTop(toRows(pinned, removed, "pinned"), data, removed)),
      [data, pinned, searched, removed],
    ),
  );
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heightOf(rows[index]),
    getItemKey: useCallback((index: number) => keyOf(rows[index], index), [rows]),
    overscan: 8,
    useFlushSync: false,
  });
  const lastShown = virtual.getVirtualItems().at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && lastShown >= rows.length - 20) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, lastShown, rows.length, fetchNextPage]);
  return (
    <>
      <div className="session-search">
        <SearchField
          label={t.search}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          onEscape={() => setQuery("")}
        />
        <ListMenu />
      </div>
      <div className="session-list" ref={scroller}>
        {isPending && <Skeletons lines={5} />}
        {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
        {data && !rows.length && <p className="session-note">{searched ? t.nothingFound : t.none}</p>}
        <ul className="session-rows" aria-label={t.sessions} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <li
                key={item.key}
                className="session-row"
                style={{ height: item.size, transform: `translateY(${item.start}px)` }}
              >
                {row.type === "group" ? (
                  <GroupName group={row.group} />
                ) : (
                  <SessionRow
                    session={row.session}
                    current={row.session.session_id === current}
                    words={searched}
                  />
                )}
              </li>
            );
          })}
        </ul>
        {isFetchingNextPage && <p className="session-note">{t.more}</p>}
      </div>
      <div className="hidden-text" role="status">
        {searched && data ? t.found(rows.filter((row) => row.type === "session").length) : ""}
      </div>
    </>
  );
}

function GroupName({ group }: { group: Group }) {
  const t = useText(sessionsText);
  const language = useLanguage();
  const known = NAMED_GROUPS.find((one) => one === group);
  return <div className="session-group">{known ? t[known] : monthName(group, language)}</div>;
}

/** The virtual list keeps heights by key, so a key says which height its row has. */
function keyOf(row: Row | undefined, index: number): string | number {
  if (!row) return index;
  return row.type === "group" ? row.group : `${row.session.session_id} ${heightOf(row)}`;
}

function heightOf(row: Row | undefined): number {
  if (row?.type === "group") return GROUP_HEIGHT;
  return row?.session.passage ? PASSAGE_HEIGHT : ROW_HEIGHT;
}

/** The two lists are loaded one after the other: a session that is in both for a moment is shown once. */
function onTop(pinned: Row[], data: Parameters<typeof toRows>[0], removed: ReadonlySet<string>): Row[] {
  const ids = pinned.flatMap((row) => (row.type === "session" ? row.session.session_id : []));
  return [...pinned, ...toRows(data, new Set([...removed, ...ids]))];
}

function toRows(
  data: { pages: { sessions: Session[] }[] } | undefined,
  removed: ReadonlySet<string>,
  only?: Group,
): Row[] {
  const rows: Row[] = [];
  let group: Group | null = null;
  for (const session of data?.pages.flatMap((page) => page.sessions) ?? []) {
    if (removed.has(session.session_id)) continue;
    const current = only ?? dateGroup(session.updated_at);
    if (current !== group) rows.push({ type: "group", group: current });
    group = current;
    rows.push({ type: "session", session });
  }
  return rows;
}

/** What concerns all conversations. */
function ListMenu() {
  const t = useText(sessionsText);
  const [importing, setImporting] = useState(false);
  return (
    <>
      <Menu align="end" trigger={<IconButton icon="more" label={t.listActions} />}>
        <MenuItem icon="archive" onSelect={() => go(hrefTo("archive"))}>
          {t.archiveView}
        </MenuItem>
        <MenuItem icon="upload" onSelect={() => setImporting(true)}>
          {t.importView}
        </MenuItem>
      </Menu>
      {importing && (
        <LazyDialog label={t.importView} onClose={() => setImporting(false)}>
          <ImportDialog onClose={() => setImporting(false)} />
        </LazyDialog>
      )}
    </>
  );
}
