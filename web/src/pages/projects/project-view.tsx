import { useState } from "react";
import { useMe } from "../../account/account";
import { ApiError } from "../../api";
import { ago } from "../../i18n/dates";
import { useLanguage, useText } from "../../i18n/language";
import { projectsText } from "../../i18n/strings/projects";
import { sessionsText } from "../../i18n/strings/sessions";
import { shellText } from "../../i18n/strings/shell";
import { ErrorText } from "../../i18n/translate";
import { go, hrefTo } from "../../route";
import { useRemoved, useSessions } from "../../sessions/client";
import { Button, IconButton, LinkButton } from "../../ui/button";
import { Dialog, DialogFoot } from "../../ui/dialog";
import { Empty, ErrorNotice, Page, Skeletons } from "../../ui/feedback";
import { useSaving } from "../../ui/form";
import { Menu, MenuItem, MenuSeparator } from "../../ui/menu";
import { NameDialog } from "../../ui/name-dialog";
import { useToast } from "../../ui/toast";
import { type ProjectDetails, projects, useProject, useProjectShares } from "./client";
import { Files } from "./files";
import { Members } from "./members";
import { Settings } from "./settings";

/** One project: its conversations, instructions, files and members. */
export function ProjectView({ id }: { id: string }) {
  const t = useText(projectsText);
  const { data: project, error, refetch } = useProject(id);
  const me = useMe();
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Page title={t.title}>
        <Empty
          icon="folder"
          title={t.missing}
          action={<LinkButton href={hrefTo("projects")}>{t.toProjects}</LinkButton>}
        />
      </Page>
    );
  }
  if (!project) {
    return (
      <Page title={t.title}>
        {error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Skeletons lines={6} />}
      </Page>
    );
  }
  return (
    <Page
      title={project.name}
      actions={<Actions project={project} />}
      lead={
        <a className="small" href={hrefTo("projects")}>
          {t.toProjects}
        </a>
      }
    >
      <div className="pj-view">
        <div className="stack">
          <LinkButton
            kind="primary"
            icon="plus"
            href={`${hrefTo("chat")}?project=${encodeURIComponent(id)}`}
            className="pj-new"
          >
            {t.newChat}
          </LinkButton>
          <Conversations project={project} />
          <SharedHere id={id} />
        </div>
        <div className="stack">
          <Settings key={`${id} ${project.role}`} project={project} />
          <Files project={project} />
          {me?.authentication === "required" && <Members project={project} me={me.id} />}
        </div>
      </div>
    </Page>
  );
}

function Actions({ project }: { project: ProjectDetails }) {
  const t = useText(projectsText);
  const shell = useText(shellText);
  const toast = useToast();
  const [dialog, setDialog] = useState<"rename" | "delete" | null>(null);
  if (project.role === "viewer") return project.archived ? <span className="pill">{t.archived}</span> : null;
  const archive = () =>
    projects
      .change(project.project_id, { archived: !project.archived })
      .catch((error: unknown) => toast(<ErrorText error={error} />));
  return (
    <>
      {project.archived && <span className="pill">{t.archived}</span>}
      <Menu align="end" trigger={<IconButton icon="more" label={t.actions} />}>
        <MenuItem icon="edit" onSelect={() => setDialog("rename")}>
          {t.rename}
        </MenuItem>
        <MenuItem icon="archive" onSelect={() => void archive()}>
          {project.archived ? t.unarchive : t.archive}
        </MenuItem>
        {project.role === "owner" && (
          <>
            <MenuSeparator />
            <MenuItem icon="trash" danger onSelect={() => setDialog("delete")}>
              {t.remove}
            </MenuItem>
          </>
        )}
      </Menu>
      {dialog === "rename" && (
        <NameDialog
          title={t.rename}
          label={t.name}
          name={project.name}
          maxLength={100}
          action={shell.save}
          save={(name) => projects.change(project.project_id, { name })}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === "delete" && <DeleteDialog project={project} onClose={() => setDialog(null)} />}
    </>
  );
}

/** Asks what becomes of the conversations: keeping them is the default. */
function DeleteDialog({ project, onClose }: { project: ProjectDetails; onClose: () => void }) {
  const t = useText(projectsText);
  const [conversations, setConversations] = useState<"keep" | "delete">("keep");
  const { saving, failure, run } = useSaving();
  const remove = () =>
    run(async () => {
      await projects.delete(project.project_id, conversations);
      onClose();
      go(hrefTo("projects"));
    });
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
      {failure !== null && <ErrorNotice error={failure} />}
      <DialogFoot onCancel={onClose}>
        <Button kind="danger" disabled={saving} onClick={() => void remove()}>
          {t.deleteButton}
        </Button>
      </DialogFoot>
    </Dialog>
  );
}

function Conversations({ project }: { project: ProjectDetails }) {
  const t = useText(projectsText);
  const sessions = useText(sessionsText);
  const language = useLanguage();
  const removed = useRemoved();
  const { data, error, isPending, hasNextPage, fetchNextPage, refetch } = useSessions("", {
    project_id: project.project_id,
  });
  const list = data?.pages.flatMap((page) => page.sessions).filter((one) => !removed.has(one.session_id));
  const several = project.members.length > 1;
  return (
    <section aria-labelledby="pj-conversations">
      <h2 id="pj-conversations">{t.conversations}</h2>
      {several && <p className="muted small">{t.private}</p>}
      {isPending && <Skeletons lines={3} />}
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {list && !list.length && <p className="muted">{t.noConversations}</p>}
      <ul className="pj-list">
        {list?.map((session) => (
          <li key={session.session_id}>
            <a className="pj-row" href={hrefTo("chat", session.session_id)}>
              <span className="ellipsis grow">{session.title || sessions.untitled}</span>
              <span className="muted small">{ago(session.updated_at, language)}</span>
            </a>
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <Button small kind="quiet" onClick={() => void fetchNextPage()}>
          {sessions.more}
        </Button>
      )}
    </section>
  );
}

function SharedHere({ id }: { id: string }) {
  const t = useText(projectsText);
  const sessions = useText(sessionsText);
  const language = useLanguage();
  const shares = useProjectShares(id).data?.shares ?? [];
  if (!shares.length) return null;
  return (
    <section aria-labelledby="pj-shared">
      <h2 id="pj-shared">{t.sharedHere}</h2>
      <ul className="pj-list">
        {shares.map((share) => (
          <li key={share.token}>
            <a className="pj-row" href={hrefTo("shared", share.token)}>
              <span className="ellipsis grow">{share.title || sessions.untitled}</span>
              <span className="muted small">
                {t.by(share.user_id)} · {ago(share.created_at, language)}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
