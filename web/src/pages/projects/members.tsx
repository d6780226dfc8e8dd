import { useState } from "react";
import { useText } from "../../i18n/language";
import { projectsText } from "../../i18n/strings/projects";
import { ErrorText, useErrorText } from "../../i18n/translate";
import { go, hrefTo } from "../../route";
import { Button, IconButton } from "../../ui/button";
import { Field, TextInput } from "../../ui/field";
import { useToast } from "../../ui/toast";
import { type ProjectDetails, projects, type Role } from "./client";

const ROLES: Role[] = ["viewer", "editor", "owner"];

/** Who may use the project. Owners add and remove members; everybody may leave. */
export function Members({ project, me }: { project: ProjectDetails; me: string }) {
  const t = useText(projectsText);
  const toast = useToast();
  const owner = project.role === "owner";
  const id = project.project_id;
  const failed = (error: unknown) => toast(<ErrorText error={error} />);
  const leave = () => projects.removeMember(id, me).then(() => go(hrefTo("projects")), failed);
  return (
    <section className="card stack" aria-labelledby="pj-members">
      <h2 id="pj-members">{t.members}</h2>
      <p className="muted small">{t.roleNote}</p>
      <ul className="pj-list">
        {project.members.map(({ user_id: user, role }) => (
          <li key={user} className="row pj-member">
            <span className="grow ellipsis">
              {user} {user === me && <span className="muted small">({t.you})</span>}
            </span>
            {owner ? (
              <RoleSelect
                label={t.roleOf(user)}
                value={role}
                onChange={(chosen) => void projects.setMember(id, user, chosen).catch(failed)}
              />
            ) : (
              <span className="muted small">{t[`role_${role}`]}</span>
            )}
            {owner && user !== me && (
              <IconButton
                small
                icon="close"
                label={t.removeMember(user)}
                onClick={() => void projects.removeMember(id, user).catch(failed)}
              />
            )}
          </li>
        ))}
      </ul>
      {owner && <AddMember id={id} />}
      {!owner && (
        <div>
          <Button small icon="leave" onClick={() => void leave()}>
            {t.leave}
          </Button>
        </div>
      )}
    </section>
  );
}

function AddMember({ id }: { id: string }) {
  const t = useText(projectsText);
  const why = useErrorText();
  const [user, setUser] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const [error, setError] = useState<unknown>(null);
  const add = async () => {
    if (!user.trim()) return;
    setError(null);
    await projects.setMember(id, user.trim(), role).then(() => setUser(""), setError);
  };
  return (
    <div className="pj-add-member">
      <Field label={t.addMember} error={error === null ? null : why(error)}>
        {(control) => (
          <TextInput
            {...control}
            placeholder={t.user}
            maxLength={200}
            value={user}
            onChange={(event) => setUser(event.target.value)}
            onEnter={() => void add()}
          />
        )}
      </Field>
      <div className="row">
        <RoleSelect label={t.role} value={role} onChange={setRole} />
        <Button disabled={!user.trim()} onClick={() => void add()}>
          {t.add}
        </Button>
      </div>
    </div>
  );
}

function RoleSelect({
  label,
  value,
  onChange,
}: {
  label: string;
  value: Role;
  onChange: (role: Role) => void;
}) {
  const t = useText(projectsText);
  return (
    <select
      className="input pj-role"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value as Role)}
    >
      {ROLES.map((role) => (
        <option key={role} value={role}>
          {t[`role_${role}`]}
        </option>
      ))}
    </select>
  );
}
