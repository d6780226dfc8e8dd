"""Links between notes: `[[title]]`, `[[title|label]]` and `note://id` in the text of a note, outside of code.

They are found in the texts themselves, so what an import brings and an export takes away is all that there is.
"""

from dataclasses import dataclass

from chie.knowledge.links.text import folded_title, ids_in, same_title, titles_in
from chie.knowledge.note import Note, NoteLink, note_uri
from chie.knowledge.service import KnowledgeService

MAX_LINKS = 100
MAX_BACKLINKS = 50
MAX_CANDIDATES = 500


@dataclass(frozen=True, kw_only=True)
class Link:
    """`target` is the title as the text has it, or the URI of the note."""

    target: str
    id: str
    title: str


@dataclass(frozen=True, kw_only=True)
class NoteLinks:
    """The notes that a note links to, and those that link to it, as far as the reader may see them."""

    links: list[Link]
    backlinks: list[NoteLink]


class Links:
    def __init__(self, service: KnowledgeService) -> None:
        self._service = service

    def of(self, note_id: str) -> NoteLinks:
        note = self._service.get(note_id)
        return NoteLinks(links=self._outgoing(note), backlinks=self._incoming(note))

    def _outgoing(self, note: Note) -> list[Link]:
        titles, ids = titles_in(note.content)[:MAX_LINKS], ids_in(note.content)[:MAX_LINKS]
        found = self._service.store.titled(titles, viewer=self._service.viewer()) if titles else ()
        known = {folded_title(one.title): one for one in reversed(found)}  # of several, the oldest
        by_title = ((title, known.get(folded_title(title))) for title in titles)
        links = [Link(target=title, id=one.id, title=one.title) for title, one in by_title if one]
        by_id = filter(None, map(self._service.find, ids))
        return links + [Link(target=note_uri(one.id), id=one.id, title=one.title) for one in by_id]

    def _incoming(self, note: Note) -> list[NoteLink]:
        texts = [f"[[{note.title}", note_uri(note.id)]
        candidates = self._service.store.mentioning(texts, viewer=self._service.viewer(), limit=MAX_CANDIDATES)
        found = [other for other in candidates if other.id != note.id and _links_to(other, note)]
        return [NoteLink(id=other.id, title=other.title) for other in found[:MAX_BACKLINKS]]


def _links_to(other: Note, note: Note) -> bool:
    named = any(same_title(title, note.title) for title in titles_in(other.content))
    return named or note.id in ids_in(other.content)
