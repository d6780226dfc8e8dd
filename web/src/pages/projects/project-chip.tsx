import "./projects.css";
import { useText } from "../../i18n/language";
import { projectsText } from "../../i18n/strings/projects";
import { hrefTo } from "../../route";
import { Icon } from "../../ui/icon";
import { useProject } from "./client";

/** The project of the conversation, above the message field. */
export default function ProjectChip({ id }: { id: string }) {
  const t = useText(projectsText);
  const { data } = useProject(id);
  if (!data) return null;
  return (
    <div className="pj-chip-line">
      <a className="pj-chip" href={hrefTo("projects", id)} aria-label={t.chip(data.name)}>
        <Icon name="folder" size={15} />
        <span className="ellipsis">{data.name}</span>
      </a>
    </div>
  );
}
