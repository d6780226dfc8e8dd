import "./call-preview.css";
import { useText } from "../../../i18n/language";
import { toolsText } from "../../../i18n/strings/tools";

const MAX_SHOWN = 20_000;
const MAX_LISTED = 2_000;

/** The arguments of a tool call: `listed` by name, and folded as JSON. */
export default function Arguments({
  value,
  listed = true,
}: {
  value: Record<string, unknown>;
  listed?: boolean;
}) {
  const t = useText(toolsText);
  const given = Object.entries(value);
  if (!given.length) return listed ? <p className="muted small">{t.none}</p> : null;
  return (
    <>
      {listed && (
        <dl className="arguments" aria-label={t.arguments}>
          {given.map(([name, one]) => (
            <div key={name} className="argument">
              <dt>{name}</dt>
              <dd>{truncated(shown(one), MAX_LISTED)}</dd>
            </div>
          ))}
        </dl>
      )}
      <details className="raw-arguments">
        <summary>{t.raw}</summary>
        <pre tabIndex={0}>{truncated(JSON.stringify(value, null, 2))}</pre>
      </details>
    </>
  );
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function truncated(text: string, length = MAX_SHOWN): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}
