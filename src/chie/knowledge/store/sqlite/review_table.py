"""SQL for the review: all notes in short."""

import sqlite3
from datetime import datetime

from chie.knowledge.review.findings import ReviewNote
from chie.knowledge.store.sqlite.visibility import visible
from chie.knowledge.viewer import Viewer


def notes(connection: sqlite3.Connection, viewer: Viewer | None) -> list[ReviewNote]:
    seen, values = visible(viewer) if viewer else ("1", [])
    known, of_newer = visible(viewer.whole, "n.") if viewer else ("0", [])
    found = connection.execute(
        "SELECT id, user_id, iif(private, user_id, NULL), updated_at, confirmed_at FROM notes"
        f" WHERE NOT proposal AND {seen} AND id NOT IN"
        f" (SELECT s.older FROM supersessions s JOIN notes n ON n.id = s.newer WHERE NOT n.proposal AND {known})",
        [*values, *of_newer],
    )
    return [
        ReviewNote(
            id=note,
            user_id=author,
            owner=owner,
            updated_at=datetime.fromisoformat(updated),
            confirmed_at=datetime.fromisoformat(confirmed) if confirmed else None,
        )
        for note, author, owner, updated, confirmed in found
    ]
