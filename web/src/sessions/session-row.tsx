import { memo, use, useEffect, useRef, useState } from "react";
import { useText } from "../i18n/language";
import { sessionsText } from "../i18n/strings/sessions";
import { shellText } from "../i18n/strings/shell";
import { go } from "../route";
import { IconButton } from "../ui/button";
import { focusMain } from "../ui/focus";
import { LazyDialog } from "../ui/lazy-dialog";
import { Menu, MenuItem, MenuSeparator } from "../ui/menu";
import { NameDialog } from "../ui/name-dialog";
import { exportUrl, isRemoved, type Session, useSessionActions } from "./client";
import { findHref, PassageLine, sessionHref } from "./passage";
import { type SessionAction, SessionActions } from "./session-actions";
import { useMark } from "./session-status";

export const SessionRow = memo(function SessionRow({
  session,
  current,
  words,
}: {
  session: Session;
  current: boolean;
  /** What was searched. */
  words: string;
}) {
  const t = useText(sessionsText);
  const shell = useText(shellText);
  const { rename, remove, pin, archive, restore } = useSessionActions();
  const [renaming, setRenaming] = useState(false);
  const [Opened, setDialog] = useState<SessionAction["dialog"] | null>(null);
  const contributed = use(SessionActions);
  const leaving = useFocusAfterLeaving(session);
  const title = session.title || t.untitled;
  const mark = useMark(session.session_id);
  const save = (format: "markdown" | "json") => () => window.open(exportUrl(session, format), "_self");
  // The dialog is beside the row, whose styles are not for it.
  return (
    <>
      <div className={current ? "session current" : "session"}>
        <a
          className={session.passage ? "session-hit" : "ellipsis"}
          href={sessionHref(session, words)}
          title={title}
          aria-current={current ? "page" : undefined}
        >
          <span className="ellipsis">{title}</span>
          {mark && !(current && mark === "unread") && (
            <span className={`session-state ${mark}`} title={t[mark]}>
              <span className="hidden-text">{t[mark]}</span>
            </span>
          )}
          {session.passage && <PassageLine passage={session.passage} />}
        </a>
        {session.archived_at && <span className="session-mark">{t.archivedMark}</span>}
        <Menu align="end" trigger={<IconButton small icon="more" label={t.actions(title)} />}>
          {!session.archived_at && (
            <MenuItem icon="pin" onSelect={() => pin(session, !session.pinned_at)}>
              {session.pinned_at ? t.unpin : t.pin}
            </MenuItem>
          )}
          <MenuItem icon="edit" onSelect={() => setRenaming(true)}>
            {t.rename}
          </MenuItem>
          <MenuItem icon="search" onSelect={() => go(findHref(session.session_id))}>
            {t.findIn}
          </MenuItem>
          {contributed.map(({ label, icon, dialog }) => (
            <MenuItem key={label} icon={icon} onSelect={() => setDialog(dialog)}>
              {t[label]}
            </MenuItem>
          ))}
          <MenuItem icon="download" onSelect={save("markdown")}>
            {t.exportMarkdown}
          </MenuItem>
          <MenuItem icon="download" onSelect={save("json")}>
            {t.exportJson}
          </MenuItem>
          <MenuSeparator />
          {session.archived_at ? (
            <MenuItem icon="history" onSelect={() => restore(session)}>
              {t.restore}
            </MenuItem>
          ) : (
            <MenuItem
              icon="archive"
              onSelect={() => {
                leaving.current = true;
                archive(session);
              }}
            >
              {t.archive}
            </MenuItem>
          )}
          <MenuItem icon="trash" danger onSelect={() => remove(session)}>
            {t.remove}
          </MenuItem>
        </Menu>
        {renaming && (
          <NameDialog
            title={t.rename}
            label={t.renameField}
            name={session.title}
            maxLength={200}
            action={shell.save}
            save={(title) => rename(session, title)}
            onClose={() => setRenaming(false)}
          />
        )}
      </div>
      {Opened && (
        <LazyDialog label={title} onClose={() => setDialog(null)}>
          <Opened session={session} onClose={() => setDialog(null)} />
        </LazyDialog>
      )}
    </>
  );
});

/** A closing menu returns the focus to its button, which is gone with a deleted or archived row; focus the page
 * instead. */
function useFocusAfterLeaving({ session_id: id }: Session) {
  const leaving = useRef(false);
  useEffect(
    () => () => {
      if (!leaving.current && !isRemoved(id)) return;
      setTimeout(() => document.activeElement === document.body && focusMain());
    },
    [id],
  );
  return leaving;
}
