import "./sources.css";
import { lazy, Suspense, useId, useState } from "react";
import { type Citation, citedIn } from "../../../../core/citations";
import { date } from "../../../i18n/dates";
import { useLanguage, useText } from "../../../i18n/language";
import { chatText } from "../../../i18n/strings/chat";
import { hrefTo } from "../../../route";
import { LinkButton } from "../../../ui/button";

// biome-ignore lint/suspicious/noImportCycles: a source that is opened shows Markdown, which may name sources
const Markdown = lazy(() => import("./markdown"));

/** What the answer cites, numbered as in its text. What tools found beside that is folded. */
export function Sources({ text, citations }: { text: string; citations: readonly Citation[] }) {
  const t = useText(chatText);
  const cited = citedIn(text, citations);
  const others = citations.filter((citation) => !cited.includes(citation));
  return (
    <>
      {cited.length > 0 && (
        <section className="sources" aria-label={t.sources}>
          <h3>{t.sources}</h3>
          <Chips citations={cited} />
        </section>
      )}
      {others.length > 0 && (
        <details className="sources-found">
          <summary>{cited.length > 0 ? t.alsoFound(others.length) : t.foundOnly(others.length)}</summary>
          <div className="sources">
            <Chips citations={others} />
          </div>
        </details>
      )}
    </>
  );
}

function Chips({ citations }: { citations: readonly Citation[] }) {
  return citations.map((citation) => <SourceChip key={citation.key} citation={citation} />);
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
      <div className="source-snippet">
        <Suspense fallback={citation.snippet}>
          <Markdown text={citation.snippet} />
        </Suspense>
      </div>
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
