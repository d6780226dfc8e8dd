import "./usage-details.css";
import type { Usage } from "../../../../core/events";
import { count, dollars } from "../../../i18n/amounts";
import { useLanguage, useText } from "../../../i18n/language";
import { detailsText } from "../../../i18n/strings/usage-details";

/** What an answer used and cost. */
export default function UsageDetails({ usage }: { usage: Usage }) {
  const t = useText(detailsText);
  const language = useLanguage();
  const cost =
    usage.cost === undefined ? t.unknown : usage.cost === 0 ? t.free : dollars(usage.cost, language);
  const rows: [string, string | number | undefined][] = [
    [t.model, usage.models?.join(", ")],
    [t.input, usage.input_tokens],
    [t.cached, usage.cached_tokens],
    [t.written, usage.cache_write_tokens],
    [t.output, usage.output_tokens],
    [t.reasoning, usage.reasoning_tokens],
    [t.cost, cost],
  ];
  return (
    <>
      <dl className="answer-usage">
        {rows.map(([name, value]) =>
          value === undefined ? null : (
            <Row key={name} name={name} value={typeof value === "number" ? count(value, language) : value} />
          ),
        )}
      </dl>
      {usage.estimated && <p className="muted small">{t.estimated}</p>}
    </>
  );
}

function Row({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt className="muted">{name}</dt>
      <dd>{value}</dd>
    </>
  );
}
