import "./call-preview.css";
import type { ToolPart } from "../../../../core/answer";
import { difference } from "../../../../core/diff";
import type { FieldChange, Preview } from "../../../../core/events";
import { dateTime } from "../../../i18n/dates";
import { useLanguage, useText } from "../../../i18n/language";
import { toolsText } from "../../../i18n/strings/tools";
import { Translated } from "../../../i18n/translate";
import Arguments from "./arguments";

/** A sentence of what the call would do, or has done. */
export function CallSentence({ tool }: { tool: ToolPart }) {
  const t = useText(toolsText);
  return tool.preview ? <Translated message={tool.preview} /> : t.call(tool.name);
}

/** The consequences and changes; for a tool that Chie does not know, what its server says and the arguments. */
export default function CallDetails({ tool }: { tool: ToolPart }) {
  const t = useText(toolsText);
  const language = useLanguage();
  const { notes = [], changes = [], more, moment, description } = tool.preview ?? ({} as Partial<Preview>);
  const known = tool.preview !== undefined && description === undefined;
  return (
    <div className="call-details">
      {moment && <p className="small muted">{t.stateOf(dateTime(moment, language))}</p>}
      {notes.map((note, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the sentences have no identity
        <p className="small" key={index}>
          <Translated message={note} />
        </p>
      ))}
      {description && (
        <p className="small muted">
          {t.says} {description}
        </p>
      )}
      {changes.length > 0 && (
        <dl className="call-changes" aria-label={t.changes}>
          {changes.map((change, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the changes have no identity
            <Change key={index} change={change} />
          ))}
        </dl>
      )}
      {more !== undefined && <p className="small muted">{t.more(more)}</p>}
      <Arguments value={tool.arguments} listed={!known} />
    </div>
  );
}

function Change({ change }: { change: FieldChange }) {
  const t = useText(toolsText);
  const { before, after } = change;
  const kind =
    before === null && after !== null ? t.added : after === null && before !== null ? t.removed : "";
  return (
    <div>
      <dt>
        <Translated message={change} />
        {kind && <span className="call-change-kind"> {kind}</span>}
      </dt>
      {(before !== null || after !== null) && (
        <dd>
          <pre tabIndex={0}>
            <Difference before={before ?? ""} after={after ?? ""} />
          </pre>
        </dd>
      )}
    </div>
  );
}

const TAGS = { same: "span", added: "ins", removed: "del" } as const;
const CONTEXT = 2;

/** Long stretches that stay as they are become one line. */
function Difference({ before, after }: { before: string; after: string }) {
  const t = useText(toolsText);
  return difference(before, after).map(({ kind, text }, index) => {
    const Tag = TAGS[kind];
    const lines = text.split("\n");
    const hidden = kind === "same" ? lines.length - 2 * CONTEXT - 1 : 0;
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no identity
      <Tag key={index}>
        {hidden < 3 ? (
          text
        ) : (
          <>
            {`${lines.slice(0, CONTEXT).join("\n")}\n`}
            <span className="muted">⋯ {t.unchanged(hidden)}</span>
            {`\n${lines.slice(-CONTEXT - 1).join("\n")}`}
          </>
        )}
      </Tag>
    );
  });
}
