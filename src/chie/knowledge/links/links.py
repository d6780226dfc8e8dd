"""Links between notes: `[[title]]`, `[[title|label]]` and `note://id` in the text of a note, outside of code.

What an import brings and an export takes away is in the texts; stores repeat it in a table, to find it from both ends.
"""

from dataclasses import dataclass

from chie.knowledge.links.text import folded_title, id_target, ids_in, titles_in
from chie.knowledge.note import Note, NoteLink, note_uri
from chie.knowledge.service import KnowledgeService

MAX_LINKS = 100
MAX_BACKLINKS = 50


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
        self._store = service.store

    def of(self, note_id: str) -> NoteLinks:
        note = self._service.get(note_id)
        return NoteLinks(links=self._outgoing(note), backlinks=self._incoming(note))

    def _outgoing(self, note: Note) -> list[Link]:
        written = [(title, folded_title(title)) for title in titles_in(note.content)[:MAX_LINKS]]
        written += [(note_uri(one), id_target(one)) for one in ids_in(note.content)[:MAX_LINKS]]
        found = self._store.resolve_links([target for _, target in written], viewer=self._service.viewer())
        return [
            Link(target=text, id=found[target].id, title=found[target].title)
            for text, target in written
            if target in found
        ]

    def _incoming(self, note: Note) -> list[NoteLink]:
        """The notes whose links lead to this one, so a title that an older note has too does not count."""
        viewer = self._service.viewer()
        names = [id_target(note.id), folded_title(note.title), *self._store.former_titles(note.id, viewer=viewer)]
        found = self._store.resolve_links(names, viewer=viewer)
        targets = [name for name in names if name in found and found[name].id == note.id]
        linking = self._store.linking(targets, viewer=viewer, limit=MAX_BACKLINKS + 1)
        return [other for other in linking if other.id != note.id][:MAX_BACKLINKS]
