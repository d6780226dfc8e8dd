"""SQL for the review: all notes in short."""

from datetime import UTC
from typing import TYPE_CHECKING

from chie.knowledge.review.findings import ReviewNote
from chie.knowledge.store.postgres.visibility import visible
from chie.knowledge.viewer import Viewer

if TYPE_CHECKING:
    from chie.knowledge.store.postgres.pool import Connection


def notes(connection: "Connection", viewer: Viewer | None) -> list[ReviewNote]:
    seen, values = visible(viewer) if viewer else ("true", [])
    known, of_newer = visible(viewer.whole, "n.") if viewer else ("false", [])
    found = connection.execute(
        "SELECT id, user_id, CASE WHEN private THEN user_id END, updated_at, confirmed_at FROM knowledge_notes"
        f" WHERE NOT proposal AND {seen} AND id NOT IN (SELECT s.older FROM knowledge_supersessions s"
        f" JOIN knowledge_notes n ON n.id = s.newer WHERE NOT n.proposal AND {known})",
        [*values, *of_newer],
    )
    return [
        ReviewNote(
            id=note,
            user_id=author,
            owner=owner,
            updated_at=updated.astimezone(UTC),
            confirmed_at=confirmed and confirmed.astimezone(UTC),
        )
        for note, author, owner, updated, confirmed in found
    ]
