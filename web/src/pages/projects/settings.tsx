import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { messageIn } from "../../../core/server-message";
import { agentsQuery } from "../../agents/agents";
import { useDraft } from "../../drafts";
import { useText } from "../../i18n/language";
import { projectsText } from "../../i18n/strings/projects";
import { useErrorText, useTranslate } from "../../i18n/translate";
import { Button } from "../../ui/button";
import { Field, TextArea } from "../../ui/field";
import { useToast } from "../../ui/toast";
import { useSpaces } from "../knowledge/spaces/spaces";
import { type Change, type ProjectDetails, projects } from "./client";

const MAX_INSTRUCTIONS = 20_000;

/** The instructions, the agent and the space; a viewer only reads them. */
export function Settings({ project }: { project: ProjectDetails }) {
  const t = useText(projectsText);
  const why = useErrorText();
  const toast = useToast();
  const [change, setChange] = useUnsaved(project);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  if (project.role === "viewer") return <ReadOnly project={project} />;
  const value = { ...project, ...change };
  const dirty = Object.keys(change).length > 0;
  const save = async () => {
    setBusy(true);
    setError(null);
    try {
      await projects.change(project.project_id, change);
      setChange({});
      toast(t.saved);
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  return (
    <section className="card stack" aria-labelledby="pj-settings">
      <h2 id="pj-settings">{t.settings}</h2>
      <Field label={t.instructions} note={t.instructionsNote} error={error === null ? null : why(error)}>
        {(control) => (
          <TextArea
            {...control}
            rows={6}
            maxLength={MAX_INSTRUCTIONS}
            value={value.instructions}
            onChange={(event) => setChange({ ...change, instructions: event.target.value })}
          />
        )}
      </Field>
      <AgentField value={value.agent_id} onChange={(agent_id) => setChange({ ...change, agent_id })} />
      <SpaceChoice value={value.space} onChange={(space) => setChange({ ...change, space })} />
      <div>
        <Button kind="primary" disabled={!dirty || busy} onClick={() => void save()}>
          {t.save}
        </Button>
      </div>
    </section>
  );
}

/** What differs from the project. It stays in the browser, because the button to a new conversation is close by. */
function useUnsaved(project: ProjectDetails): [Change, (change: Change) => void] {
  const [draft, setDraft] = useDraft(`project ${project.project_id}`);
  const change = Object.fromEntries(
    Object.entries(draft ? (JSON.parse(draft) as Change) : {}).filter(
      ([name, given]) => project[name as keyof Change] !== given,
    ),
  );
  return [change, (changed) => setDraft(Object.keys(changed).length ? JSON.stringify(changed) : "")];
}

function ReadOnly({ project }: { project: ProjectDetails }) {
  const t = useText(projectsText);
  return (
    <section className="card" aria-labelledby="pj-instructions">
      <h2 id="pj-instructions">{t.instructions}</h2>
      <p className="pj-instructions">{project.instructions || t.noInstructions}</p>
    </section>
  );
}

interface ChoiceProps {
  value: string | null;
  onChange: (value: string | null) => void;
}

function AgentField({ value, onChange }: ChoiceProps) {
  const t = useText(projectsText);
  const translate = useTranslate();
  const agents = useQuery(agentsQuery).data?.agents ?? [];
  const options = agents.map((agent) => ({
    value: agent.agent_id,
    label: translate(messageIn(agent, "name")),
  }));
  return <Choice label={t.agent} none={t.defaultAgent} options={options} value={value} onChange={onChange} />;
}

function SpaceChoice({ value, onChange }: ChoiceProps) {
  const t = useText(projectsText);
  const spaces = useSpaces();
  if (spaces.length < 2 && value === null) return null;
  const options = spaces.map(({ name, title }) => ({ value: name, label: title || name }));
  return (
    <Choice
      label={t.space}
      note={t.spaceNote}
      none={t.noSpace}
      options={options}
      value={value}
      onChange={onChange}
    />
  );
}

function Choice({
  label,
  note,
  none,
  options,
  value,
  onChange,
}: ChoiceProps & {
  label: string;
  note?: string;
  none: string;
  options: { value: string; label: string }[];
}) {
  const known = value === null || options.some((option) => option.value === value);
  return (
    <Field label={label} note={note}>
      {(control) => (
        <select
          {...control}
          className="input"
          value={value ?? ""}
          onChange={(event) => onChange(event.target.value || null)}
        >
          <option value="">{none}</option>
          {!known && <option value={value ?? ""}>{value}</option>}
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
