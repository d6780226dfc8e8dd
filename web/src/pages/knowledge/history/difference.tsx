import { difference } from "../../../../core/diff";
import { useText } from "../../../i18n/language";
import { inboxText } from "../../../i18n/strings/inbox";
import { languageOf } from "../notes";

const TAGS = { same: "span", added: "ins", removed: "del" } as const;

/** What `after` has and `before` has not, and the other way round. */
export function Difference({ before, after }: { before: string; after: string }) {
  const t = useText(inboxText);
  const parts = difference(before, after);
  if (parts.every((part) => part.kind === "same")) return <p className="muted small">{t.same}</p>;
  return (
    <div className="kn-difference" lang={languageOf(after)}>
      {parts.map(({ kind, text }, index) => {
        const Tag = TAGS[kind];
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no identity
        return <Tag key={index}>{text}</Tag>;
      })}
    </div>
  );
}
