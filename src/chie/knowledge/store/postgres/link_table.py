"""SQL for links between notes, which are found in their texts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chie.knowledge.note import Note, NoteLink
from chie.knowledge.search.query import ascii_lower
from chie.knowledge.store.postgres.note_table import COLUMNS, is_storable, note_of
from chie.knowledge.store.postgres.visibility import visible
from chie.knowledge.viewer import Viewer

if TYPE_CHECKING:
    from chie.knowledge.store.postgres.pool import Connection


def titled(connection: "Connection", titles: Sequence[str], viewer: Viewer) -> list[NoteLink]:
    sql, values = visible(viewer)
    found = connection.execute(
        f'SELECT id, title FROM knowledge_notes WHERE lower(title COLLATE "C") = ANY(%s) AND {sql}'
        " ORDER BY created_at, id",
        ([ascii_lower(title) for title in titles if is_storable(title)], *values),
    )
    return [NoteLink(id=note, title=title) for note, title in found]


def mentioning(connection: "Connection", texts: Sequence[str], viewer: Viewer, limit: int) -> list[Note]:
    sql, values = visible(viewer)
    found = connection.execute(
        f"SELECT {COLUMNS} FROM knowledge_notes WHERE EXISTS (SELECT 1 FROM unnest(%s::text[]) t"
        f' WHERE strpos(lower(content COLLATE "C"), t) > 0) AND {sql} ORDER BY created_at DESC, id DESC LIMIT %s',
        ([ascii_lower(text) for text in texts], *values, limit),
    )
    return [note_of(row) for row in found]
