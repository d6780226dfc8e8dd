"""SQL for lists of notes, of their tags and of their authors."""

from collections.abc import Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any

from chie.database.cursor import decode, encode
from chie.knowledge.note import AuthorCount, Heading, Note, Page, TagCount
from chie.knowledge.search.tokens import fold
from chie.knowledge.store.postgres.note_table import COLUMNS, index_key, is_storable, labels, note_of
from chie.knowledge.store.postgres.visibility import visible
from chie.knowledge.viewer import Viewer

if TYPE_CHECKING:
    from chie.knowledge.store.postgres.pool import Connection

_HEADING = "id, title, tags, source, status, user_id, space, private, proposal, created_at, updated_at, length(content)"


def page(connection: "Connection", *, tag: str | None, limit: int, cursor: str | None, viewer: Viewer) -> Page:
    if tag is not None and not is_storable(tag):
        return Page(notes=[], next_cursor=None)
    condition, values = visible(viewer)
    where = [condition]
    if tag is not None:
        where.append("labels @> %s::text[]")
        values.append(labels([tag]))
    if cursor is not None:
        where.append("(created_at, id) < (%s::timestamptz, %s)")
        values.extend(decode(cursor))
    found = connection.execute(
        f"SELECT {_HEADING} FROM knowledge_notes WHERE {' AND '.join(where)}"
        " ORDER BY created_at DESC, id DESC LIMIT %s",
        (*values, limit + 1),
    ).fetchall()
    notes = [_heading(row) for row in found[:limit]]
    return Page(notes=notes, next_cursor=encode(notes[-1].created_at, notes[-1].id) if len(found) > limit else None)


def tags(connection: "Connection", viewer: Viewer) -> list[TagCount]:
    """Tags are indexed folded; the spelling is the most frequent one in the notes."""
    seen, values = visible(viewer)
    spelt = connection.execute(
        f"SELECT t, count(*) FROM knowledge_notes, unnest(tags) t WHERE {seen}"
        ' GROUP BY t ORDER BY 2, t COLLATE "C" DESC',
        values,
    )
    spelling: dict[str, str] = {index_key(fold(tag)): tag for tag, _ in spelt}
    found = connection.execute(
        f"SELECT t, count(*) FROM knowledge_notes, unnest(labels) t WHERE {seen} GROUP BY 1 ORDER BY 2 DESC, 1",
        values,
    )
    return [TagCount(tag=spelling[label], count=number) for label, number in found]


def authors(connection: "Connection", viewer: Viewer) -> list[AuthorCount]:
    seen, values = visible(viewer)
    found = connection.execute(
        f"SELECT user_id, count(*) FROM knowledge_notes WHERE {seen} GROUP BY 1 ORDER BY 2 DESC, 1", values
    )
    return [AuthorCount(author=author, count=number) for author, number in found]


def walk(connection: "Connection", *, after: str | None, limit: int) -> list[Note]:
    found = connection.execute(
        f"SELECT {COLUMNS} FROM knowledge_notes WHERE id > %s ORDER BY id LIMIT %s", (after or "", limit)
    )
    return [note_of(row) for row in found]


def _heading(row: Sequence[Any]) -> Heading:
    return Heading(
        id=row[0],
        title=row[1],
        tags=row[2],
        source=row[3],
        status=row[4],
        user_id=row[5],
        space=row[6],
        private=row[7],
        proposal=row[8],
        created_at=row[9].astimezone(UTC),
        updated_at=row[10].astimezone(UTC),
        length=row[11],
    )
