/** Choosing a space, for a note or for a list, and the badge of a note that is not in the team's. */
import { useText } from "../../../i18n/language";
import { spacesText } from "../../../i18n/strings/spaces";
import { Field } from "../../../ui/field";
import { Icon } from "../../../ui/icon";
import { TEAM, useSpaces } from "./spaces";

/** Nothing to choose, no field. */
export function SpaceField({ value, onChange }: { value: string; onChange: (space: string) => void }) {
  const t = useText(spacesText);
  const known = useSpaces().filter(({ name, access }) => access === "write" || name === value);
  if (known.length < 2) return null;
  return (
    <Field label={t.space} note={t.spaceNote}>
      {(control) => (
        <select
          {...control}
          className="input"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        >
          {known.map(({ name, title }) => (
            <option key={name} value={name}>
              {title || name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function SpaceFilter({
  value,
  onChange,
}: {
  value: string | null;
  onChange: (space: string | null) => void;
}) {
  const t = useText(spacesText);
  const known = useSpaces();
  if (known.length < 2 && value === null) return null;
  return (
    <select
      className="input kn-space-filter"
      aria-label={t.space}
      value={value ?? ""}
      onChange={(event) => onChange(event.target.value || null)}
    >
      <option value="">{t.allSpaces}</option>
      {known.map(({ name, title }) => (
        <option key={name} value={name}>
          {title || name}
        </option>
      ))}
    </select>
  );
}

export function SpaceBadge({ space }: { space: string }) {
  const t = useText(spacesText);
  const title = useSpaces().find(({ name }) => name === space)?.title;
  if (space === TEAM) return null;
  return (
    <span className="kn-space" title={t.space}>
      <Icon name="book" size={13} />
      <span className="hidden-text">{t.space}: </span>
      {title || space}
    </span>
  );
}
