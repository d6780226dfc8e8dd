"""The part of the SQL stores that keeps links between notes."""

from collections.abc import Sequence

from chie.knowledge.note import NoteLink
from chie.knowledge.store.link_table import LinkTable
from chie.knowledge.store.versioned import VersionedStore
from chie.knowledge.viewer import Viewer


class LinkedStore(VersionedStore):
    _links: LinkTable

    def resolve_links(self, targets: Sequence[str], *, viewer: Viewer) -> dict[str, NoteLink]:
        return self._read(lambda connection: self._links.resolve(connection, targets, viewer)) if targets else {}

    def titled(self, titles: Sequence[str], *, viewer: Viewer) -> list[NoteLink]:
        return self._read(lambda connection: self._links.titled(connection, titles, viewer))

    def linking(self, targets: Sequence[str], *, viewer: Viewer, limit: int) -> list[NoteLink]:
        return self._read(lambda connection: self._links.linking(connection, targets, viewer, limit))

    def former_titles(self, note_id: str, *, viewer: Viewer) -> list[str]:
        return self._read(lambda connection: self._links.former_titles(connection, note_id, viewer))

    def tags_of(self, note_ids: Sequence[str]) -> dict[str, list[str]]:
        return self._read(lambda connection: self._links.tags_of(connection, note_ids))

    def link_rows(self, *, viewer: Viewer, limit: int) -> list[tuple[NoteLink, str]]:
        return self._read(lambda connection: self._links.rows(connection, viewer, limit))
