import { count, dollars } from "../../i18n/amounts";
import { useLanguage, useText } from "../../i18n/language";
import { usageText } from "../../i18n/strings/usage";
import type { Group, Sum } from "./usage";

/** A cost, or that it is unknown; models on this machine cost nothing. */
export function useCost() {
  const t = useText(usageText);
  const language = useLanguage();
  return (sum: Sum) => {
    if (sum.unpriced_requests === 0) return sum.cost === 0 ? t.free : dollars(sum.cost, language);
    return sum.unpriced_requests === sum.requests ? t.unknown : t.atLeast(dollars(sum.cost, language));
  };
}

export function GroupTable({
  heading,
  column,
  groups,
  name = (group) => group.name,
}: {
  heading: string;
  column: string;
  groups: readonly Group[];
  name?: (group: Group) => string;
}) {
  return (
    <section>
      <h2 className="us-heading">{heading}</h2>
      <Rows label={heading} column={column} groups={groups} name={name} />
    </section>
  );
}

/** Scrolls sideways where the screen is narrow, also by keyboard. */
export function Rows({
  label,
  column,
  groups,
  name,
}: {
  label: string;
  column: string;
  groups: readonly Group[];
  name: (group: Group) => string;
}) {
  const t = useText(usageText);
  const language = useLanguage();
  const cost = useCost();
  return (
    <section className="us-scroll" aria-label={label} tabIndex={0}>
      <table className="us-table">
        <thead>
          <tr>
            <th scope="col">{column}</th>
            <th scope="col">{t.cost}</th>
            <th scope="col">{t.input}</th>
            <th scope="col">{t.cached}</th>
            <th scope="col">{t.output}</th>
            <th scope="col">{t.requests}</th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr key={`${group.name} ${group.host}`}>
              <th scope="row">
                {name(group)}
                {group.host && <span className="us-host">{group.host}</span>}
              </th>
              <td>{cost(group)}</td>
              <td>{count(group.input_tokens, language)}</td>
              <td>{count(group.cached_tokens, language)}</td>
              <td>{count(group.output_tokens, language)}</td>
              <td>
                {group.estimated_requests > 0 && "≈ "}
                {count(group.requests, language)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
