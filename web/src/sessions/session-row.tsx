import { memo, useEffect, useState } from "react";
import { useText } from "../i18n/language";
import { sessionsText } from "../i18n/sessions";
import { shellText } from "../i18n/shell";
import { useFailure } from "../i18n/told";
import { hrefTo } from "../route";
import { Button, IconButton } from "../ui/button";
import { Dialog, DialogFoot } from "../ui/dialog";
import { Field, TextInput } from "../ui/field";
import { focusMain } from "../ui/focus";
import { Menu, MenuItem, MenuLine } from "../ui/menu";
import { exportAddress, isRemoved, type Session, useSessionActions } from "./client";

export const SessionRow = memo(function SessionRow({
  session,
  current,
}: {
  session: Session;
  current: boolean;
}) {
  const t = useText(sessionsText);
  const { remove } = useSessionActions();
  const [renaming, setRenaming] = useState(false);
  useFocusAfter(session);
  const title = session.title || t.untitled;
  const save = (format: "markdown" | "json") => () => window.open(exportAddress(session, format), "_self");
  return (
    <div className={current ? "session current" : "session"}>
      <a
        className="ellipsis"
        href={hrefTo("chat", session.session_id)}
        title={title}
        aria-current={current ? "page" : undefined}
      >
        {title}
      </a>
      <Menu align="end" trigger={<IconButton small icon="more" label={t.actions(title)} />}>
        <MenuItem icon="edit" onSelect={() => setRenaming(true)}>
          {t.rename}
        </MenuItem>
        <MenuItem icon="download" onSelect={save("markdown")}>
          {t.exportMarkdown}
        </MenuItem>
        <MenuItem icon="download" onSelect={save("json")}>
          {t.exportJson}
        </MenuItem>
        <MenuLine />
        <MenuItem icon="trash" danger onSelect={() => remove(session)}>
          {t.remove}
        </MenuItem>
      </Menu>
      {renaming && <Rename session={session} onClose={() => setRenaming(false)} />}
    </div>
  );
});

/** A deleted row takes its menu's button along, to which the closing menu gives the focus. */
function useFocusAfter({ session_id: id }: Session): void {
  useEffect(
    () => () => {
      if (!isRemoved(id)) return;
      setTimeout(() => document.activeElement === document.body && focusMain());
    },
    [id],
  );
}

function Rename({ session, onClose }: { session: Session; onClose: () => void }) {
  const t = useText(sessionsText);
  const shell = useText(shellText);
  const { rename } = useSessionActions();
  const [title, setTitle] = useState(session.title);
  const [error, setError] = useState<unknown>(null);
  const why = useFailure();
  const save = () => {
    if (!title.trim()) return;
    rename(session, title.trim()).then(onClose, setError);
  };
  return (
    <Dialog title={t.rename} onClose={onClose}>
      <Field label={t.renameField} error={error === null ? null : why(error)}>
        {(control) => (
          <TextInput
            {...control}
            data-autofocus
            maxLength={200}
            value={title}
            onChange={(event) => setTitle(event.target.value)}
            onEnter={save}
          />
        )}
      </Field>
      <DialogFoot>
        <Button onClick={onClose}>{shell.cancel}</Button>
        <Button kind="primary" disabled={!title.trim()} onClick={save}>
          {shell.save}
        </Button>
      </DialogFoot>
    </Dialog>
  );
}
