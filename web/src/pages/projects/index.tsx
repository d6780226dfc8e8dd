import "./projects.css";
import { useState } from "react";
import { ago } from "../../i18n/dates";
import { useLanguage, useText } from "../../i18n/language";
import { projectsText } from "../../i18n/strings/projects";
import { go, hrefTo, useRoute } from "../../route";
import { Button, LinkButton } from "../../ui/button";
import { Empty, ErrorNotice, Page, Skeletons } from "../../ui/feedback";
import { Icon } from "../../ui/icon";
import { NameDialog } from "../../ui/name-dialog";
import { type Project, projects, useProjects } from "./client";
import { ProjectView } from "./project-view";

/** `#/projects` lists the projects, `#/projects/<id>` shows one. */
export default function ProjectsPage() {
  const id = useRoute().rest[0];
  return id ? <ProjectView key={id} id={id} /> : <ProjectList />;
}

function ProjectList() {
  const t = useText(projectsText);
  const { data, error, isPending, refetch } = useProjects();
  const [creating, setCreating] = useState(false);
  const current = data?.projects.filter((project) => !project.archived) ?? [];
  const archived = data?.projects.filter((project) => project.archived) ?? [];
  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={
        <>
          <LinkButton kind="quiet" icon="link" href={hrefTo("shared")}>
            {t.shared}
          </LinkButton>
          <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
            {t.create}
          </Button>
        </>
      }
    >
      {isPending && <Skeletons lines={4} height="3.5rem" />}
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {data && !current.length && (
        <Empty icon="folder" title={t.none}>
          {t.noneNote}
        </Empty>
      )}
      {current.length > 0 && <Cards list={current} />}
      {archived.length > 0 && (
        <details className="pj-archived">
          <summary>{t.archivedOnes(archived.length)}</summary>
          <Cards list={archived} />
        </details>
      )}
      {creating && (
        <NameDialog
          title={t.create}
          label={t.name}
          maxLength={100}
          action={t.createButton}
          save={async (name) => {
            const project = await projects.create(name);
            go(hrefTo("projects", project.project_id));
          }}
          onClose={() => setCreating(false)}
        />
      )}
    </Page>
  );
}

function Cards({ list }: { list: Project[] }) {
  const t = useText(projectsText);
  const language = useLanguage();
  return (
    <ul className="pj-cards">
      {list.map((project) => (
        <li key={project.project_id}>
          <a className="card pj-card" href={hrefTo("projects", project.project_id)}>
            <span className="pj-card-name">
              <Icon name="folder" /> {project.name}
            </span>
            <span className="muted small pj-card-text">{project.instructions || t.noInstructions}</span>
            <span className="muted small">{ago(project.updated_at, language)}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}
