import "./projects.css";
import { useState } from "react";
import { useText } from "../../i18n/language";
import { projectsText } from "../../i18n/strings/projects";
import { shellText } from "../../i18n/strings/shell";
import { hrefTo } from "../../route";
import { chats } from "../../sessions/chats";
import type { Session } from "../../sessions/client";
import { Button, LinkButton } from "../../ui/button";
import { Dialog, DialogFoot } from "../../ui/dialog";
import { ErrorNotice, Skeletons } from "../../ui/feedback";
import { useToast } from "../../ui/toast";
import { projects, useProjects } from "./client";

/** Moves a conversation into a project, or out of one. */
export default function MoveDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const t = useText(projectsText);
  const shell = useText(shellText);
  const toast = useToast();
  const { data, error, refetch } = useProjects();
  const [chosen, setChosen] = useState(session.project_id ?? null);
  const [failure, setFailure] = useState<unknown>(null);
  const list = data?.projects.filter((one) => !one.archived || one.project_id === session.project_id);
  const move = async () => {
    try {
      await projects.move(session.session_id, chosen);
      void chats.open(session.session_id);
      toast(t.moved);
      onClose();
    } catch (caught) {
      setFailure(caught);
    }
  };
  return (
    <Dialog title={t.moveTitle} onClose={onClose}>
      <p className="muted">{t.moveLead}</p>
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {!list && !error && <Skeletons lines={3} />}
      {list && !list.length && (
        <LinkButton icon="plus" href={hrefTo("projects")} onClick={onClose}>
          {t.create}
        </LinkButton>
      )}
      {list && list.length > 0 && (
        <fieldset className="pj-choice">
          <legend className="hidden-text">{t.moveTitle}</legend>
          {[{ project_id: null, name: t.noProject }, ...list].map((one) => (
            <label key={one.project_id}>
              <input
                type="radio"
                name="pj-move"
                checked={chosen === one.project_id}
                onChange={() => setChosen(one.project_id)}
              />
              {one.name}
            </label>
          ))}
        </fieldset>
      )}
      {failure !== null && <ErrorNotice error={failure} />}
      <DialogFoot onCancel={onClose}>
        <Button
          kind="primary"
          disabled={!list?.length || chosen === (session.project_id ?? null)}
          onClick={() => void move()}
        >
          {shell.save}
        </Button>
      </DialogFoot>
    </Dialog>
  );
}
