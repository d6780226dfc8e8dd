import "./sources.css";
import { useId, useState } from "react";
import type { Citation } from "../../../core/citations";
import { chatText } from "../../i18n/chat";
import { date } from "../../i18n/dates";
import { useLanguage, useText } from "../../i18n/language";
import { hrefTo } from "../../route";
import { LinkButton } from "../../ui/button";

/** The list of an answer's sources, numbered as in its text. */
export function Sources({ citations }: { citations: readonly Citation[] }) {
  const t = useText(chatText);
  if (!citations.length) return null;
  return (
    <section className="sources" aria-label={t.sources}>
      <h3>{t.sources}</h3>
      {citations.map((citation) => (
        <SourceChip key={citation.key} citation={citation} />
      ))}
    </section>
  );
}

/** A native popover: Escape and a click outside close it and return the focus to the chip. */
export function SourceChip({ citation, inline = false }: { citation: Citation; inline?: boolean }) {
  const t = useText(chatText);
  const id = useId();
  const [open, setOpen] = useState(false);
  const chip = (
    <>
      <button
        type="button"
        className={inline ? "source-chip inline" : "source-chip"}
        popoverTarget={id}
        title={citation.title}
      >
        <span className="hidden-text">{t.sourceWord} </span>
        <span className="source-number">{citation.number}</span>
        <span className={inline ? "hidden-text" : "ellipsis"}> {citation.title}</span>
      </button>
      <span
        id={id}
        popover="auto"
        role="dialog"
        aria-label={t.source(citation.number)}
        className="source-card"
        onToggle={(event) => setOpen(event.newState === "open")}
      >
        {open && <SourceCard citation={citation} />}
      </span>
    </>
  );
  if (!inline) return chip;
  return (
    <span className="source-mark">
      {chip}
      {"\u2060" /* word joiner: keeps a following full stop on the same line */}
    </span>
  );
}

function SourceCard({ citation }: { citation: Citation }) {
  const t = useText(chatText);
  const language = useLanguage();
  return (
    <>
      <b>{citation.title}</b>
      <span className="source-snippet" style={{ display: "block" }}>
        {citation.snippet}
      </span>
      <span className="source-about">
        <span>
          {t.from}: {citation.tool}
        </span>
        {citation.source && citation.source !== citation.title && <span>{citation.source}</span>}
        {citation.date && <span>{date(citation.date, language)}</span>}
      </span>
      <span className="source-links">
        {citation.noteId && (
          <LinkButton small icon="book" href={hrefTo("knowledge", citation.noteId)}>
            {t.openNote}
          </LinkButton>
        )}
        {citation.link && (
          <LinkButton small icon="link" href={citation.link} target="_blank" rel="noopener noreferrer">
            {t.openSource}
          </LinkButton>
        )}
      </span>
    </>
  );
}
