import { useText } from "../../../i18n/language";
import { knowledgeText } from "../../../i18n/strings/knowledge";
import { Notice } from "../../../ui/feedback";
import { Icon } from "../../../ui/icon";
import type { Flag } from "../notes";

/** Warns above a note whose text addresses a model, with the reasons. */
export function FlagNotice({ flags = [] }: { flags?: Flag[] }) {
  const t = useText(knowledgeText);
  if (flags.length === 0) return null;
  return (
    <Notice kind="warn">
      <strong>{t.flagged}</strong>
      <ul className="kn-flags">
        {flags.map((flag) => (
          <li key={`${flag.kind}.${flag.line}`}>{t.flagLine(t[`flag_${flag.kind}`], flag.line)}</li>
        ))}
      </ul>
      <p className="muted small">{t.flaggedHint}</p>
    </Notice>
  );
}

/** The same in a list: a badge with the reasons as its title. */
export function FlagBadge({ flags = [] }: { flags?: Flag[] }) {
  const t = useText(knowledgeText);
  if (flags.length === 0) return null;
  const reasons = [...new Set(flags.map((flag) => t[`flag_${flag.kind}`]))].join(" / ");
  return (
    <span className="kn-flagged" title={`${t.flagged} ${reasons}`}>
      <Icon name="warn" size={13} /> {t.flaggedBadge}
    </span>
  );
}
