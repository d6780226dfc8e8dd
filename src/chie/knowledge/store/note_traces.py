"""What tables keep of a note beside its row and its versions, and what goes with the versions.

The text of a note is in its row, in the rows that the row owns, in its versions and in what the review has found.
Everything else names notes by id; only a search may quote one, typed by somebody who had read it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from chie.knowledge.note import Note
from chie.unicode import fold

# Tables with a column `note`, beside those whose rows a note owns.
_OF_NOTES = ("uses", "marks", "last_uses", "recalls", "recorded_searches")
_SEARCHES = ("unanswered_searches", "recorded_searches")


@dataclass(frozen=True)
class NoteTraces:
    """`connection` is that of the store's driver; every write is part of the caller's transaction."""

    prefix: str  # of the table's names
    mark: str  # of a value

    def remove(self, connection: Any, note_id: str, earlier: Iterable[Note], current: Note | None) -> None:  # noqa: ANN401
        """Of a note whose `earlier` versions are deleted. What is known of the note itself stays while it exists."""
        self._remove_findings(connection, note_id)
        self._remove_quotes(connection, "\n".join(map(_text, earlier)), _text(current) if current else "")
        if current is None:
            self._run(connection, f"DELETE FROM {self.prefix}decisions WHERE proposal = ?", note_id)
            for table in _OF_NOTES:
                self._run(connection, f"DELETE FROM {self.prefix}{table} WHERE note = ?", note_id)

    def _remove_findings(self, connection: Any, note_id: str) -> None:  # noqa: ANN401
        """A note that exists is compared again."""
        self._run(connection, f"DELETE FROM {self.prefix}review_pairs WHERE a = ? OR b = ?", note_id, note_id)
        self._run(connection, f"DELETE FROM {self.prefix}review_checked WHERE note = ?", note_id)

    def _remove_quotes(self, connection: Any, gone: str, kept: str) -> None:  # noqa: ANN401
        for table in _SEARCHES:
            found = self._run(connection, f"SELECT DISTINCT query FROM {self.prefix}{table}")
            quotes = [query for (query,) in found if _plain(query) in gone and _plain(query) not in kept]
            for query in quotes:
                self._run(connection, f"DELETE FROM {self.prefix}{table} WHERE query = ?", query)

    def _run(self, connection: Any, statement: str, *values: str) -> list[Any]:  # noqa: ANN401
        done = connection.execute(statement.replace("?", self.mark), values)
        return list(done.fetchall()) if done.description else []


def _text(note: Note) -> str:
    anchored = note.anchor.path if note.anchor else ""
    return _plain("\n".join((note.title, note.content, note.source or "", anchored, *note.tags, *note.questions)))


def _plain(text: str) -> str:
    return " ".join(fold(text).split())
