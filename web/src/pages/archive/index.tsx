import "./archive.css";
import { useDeferredValue, useEffect, useState } from "react";
import { ago, dateTime } from "../../i18n/dates";
import { useLanguage, useText } from "../../i18n/language";
import { archiveText } from "../../i18n/strings/archive";
import { sessionsText } from "../../i18n/strings/sessions";
import { shellText } from "../../i18n/strings/shell";
import { hrefTo } from "../../route";
import { type Session, useRemoved, useSessionActions, useSessions } from "../../sessions/client";
import { Button } from "../../ui/button";
import { Empty, ErrorNotice, Page, Skeletons } from "../../ui/feedback";
import { SearchField } from "../../ui/field";
import { useToast } from "../../ui/toast";

/** Conversations that are out of the list: open, restore or delete them. */
export default function ArchivePage() {
  const t = useText(archiveText);
  const shell = useText(shellText);
  const sessions = useText(sessionsText);
  const [query, setQuery] = useState("");
  const searched = useDeferredValue(query.trim());
  const { data, error, refetch, hasNextPage, fetchNextPage } = useSessions(searched, { archived: true });
  const removed = useRemoved();
  const shown = data?.pages.flatMap((page) => page.sessions).filter((one) => !removed.has(one.session_id));
  useEffect(() => {
    document.title = `${shell.archive} · Chie`;
  }, [shell]);
  return (
    <Page title={shell.archive} lead={t.lead}>
      <div className="stack">
        <SearchField
          label={t.search}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          onEscape={() => setQuery("")}
        />
        {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
        {!shown && !error && <Skeletons lines={5} />}
        {shown?.length === 0 &&
          (searched ? (
            <p role="status">{sessions.nothingFound}</p>
          ) : (
            <Empty icon="archive" title={t.none}>
              {t.noneLead}
            </Empty>
          ))}
        <ul className="archive-list" aria-label={shell.archive}>
          {shown?.map((session) => (
            <ArchivedRow key={session.session_id} session={session} />
          ))}
        </ul>
        {hasNextPage && <Button onClick={() => void fetchNextPage()}>{t.more}</Button>}
      </div>
    </Page>
  );
}

function ArchivedRow({ session }: { session: Session }) {
  const t = useText(archiveText);
  const sessions = useText(sessionsText);
  const language = useLanguage();
  const toast = useToast();
  const { remove, restore } = useSessionActions();
  const title = session.title || sessions.untitled;
  const moment = session.archived_at ?? session.updated_at;
  return (
    <li className="archive-row">
      <span className="archive-title">
        <a className="ellipsis" href={hrefTo("chat", session.session_id)} title={title}>
          {title}
        </a>
        <span className="muted small" title={dateTime(moment, language)}>
          {t.archivedOn(ago(moment, language))}
        </span>
      </span>
      <Button
        small
        icon="history"
        aria-label={t.restoreNamed(title)}
        onClick={() => {
          restore(session);
          toast(t.restored(title));
        }}
      >
        {sessions.restore}
      </Button>
      <Button
        small
        kind="danger"
        icon="trash"
        aria-label={t.removeNamed(title)}
        onClick={() => remove(session)}
      >
        {sessions.remove}
      </Button>
    </li>
  );
}
