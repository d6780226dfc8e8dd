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
    found = connection.execute(
        "SELECT id, user_id, CASE WHEN private THEN user_id END, updated_at, confirmed_at FROM knowledge_notes"
        f" WHERE NOT proposal AND {seen} AND id NOT IN (SELECT older FROM knowledge_supersessions)",
        values,
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
