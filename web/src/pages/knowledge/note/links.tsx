import { useMemo } from "react";
import { defineText, useText } from "../../../i18n/language";
import { languageOf, type Note, useLinks } from "../notes";
import { noteHref, type View } from "../view-state";
import { NoteMarkdown } from "./note-markdown";

const linkText = defineText({
  en: { linkedFrom: "Linked from" },
  ja: { linkedFrom: "このメモへのリンク" },
});

/** The text of a note, with links to the notes that it names. */
export function LinkedText({ note }: { note: Note }) {
  const { data } = useLinks(note.id);
  const links = useMemo(() => new Map(data?.links.map(({ target, id }) => [target, id])), [data]);
  return <NoteMarkdown links={links}>{note.content}</NoteMarkdown>;
}

export function Backlinks({ id, view }: { id: string; view: View }) {
  const t = useText(linkText);
  const { data } = useLinks(id);
  if (!data?.backlinks.length) return null;
  return (
    <section className="kn-similar" aria-labelledby="kn-backlinks">
      <h3 id="kn-backlinks">{t.linkedFrom}</h3>
      <ul>
        {data.backlinks.map((note) => (
          <li key={note.id}>
            <a href={noteHref(note.id, view)} lang={languageOf(note.title)}>
              {note.title}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
