import { useState } from "react";
import { useText } from "../../i18n/language";
import { projectsText } from "../../i18n/strings/projects";
import { shellText } from "../../i18n/strings/shell";
import { go, hrefTo } from "../../route";
import { Button } from "../../ui/button";
import { Dialog, DialogFoot } from "../../ui/dialog";
import { ErrorNotice } from "../../ui/feedback";
import { type ProjectDetails, projects } from "./client";

/** Asks what becomes of the conversations: keeping them is the default. */
export function DeleteDialog({ project, onClose }: { project: ProjectDetails; onClose: () => void }) {
  const t = useText(projectsText);
  const shell = useText(shellText);
  const [conversations, setConversations] = useState<"keep" | "delete">("keep");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const remove = async () => {
    setBusy(true);
    try {
      await projects.delete(project.project_id, conversations);
      onClose();
      go(hrefTo("projects"));
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  };
  return (
    <Dialog title={t.deleteTitle(project.name)} onClose={onClose}>
      <p>{t.deleteLead}</p>
      {project.conversations > 0 && (
        <fieldset className="pj-choice">
          <legend>{t.deleteQuestion(project.conversations)}</legend>
          {(["keep", "delete"] as const).map((choice) => (
            <label key={choice}>
              <input
                type="radio"
                name="pj-conversations"
                checked={conversations === choice}
                onChange={() => setConversations(choice)}
              />
              {choice === "keep" ? t.keep : t.deleteToo}
            </label>
          ))}
        </fieldset>
      )}
      {project.members.length > 1 && <p className="muted small">{t.deleteOthers}</p>}
      {error !== null && <ErrorNotice error={error} />}
      <DialogFoot>
        <Button onClick={onClose}>{shell.cancel}</Button>
        <Button kind="danger" disabled={busy} onClick={() => void remove()}>
          {t.deleteButton}
        </Button>
      </DialogFoot>
    </Dialog>
  );
}
