"""Reads passages that the present model has not read yet: after a change of model, or after it could not load.

It works in the background in small transactions, so it can be interrupted anywhere and goes on where it stopped.
A lease in the file keeps other processes from doing the same work.
"""

import json
import sqlite3
import time
from collections.abc import Callable
from uuid import uuid4

from chie.knowledge.passages import Passage, reading
from chie.knowledge.store.background import Background
from chie.knowledge.store.sqlite import rows
from chie.knowledge.store.sqlite.file import SqliteFile
from chie.knowledge.store.sqlite.vectors import SqliteVectors

BATCH = 32
LEASE_SECONDS = 60.0


class Backfill(Background):
    def __init__(self, file: SqliteFile, vectors: SqliteVectors) -> None:
        super().__init__("chie-backfill")
        self._file = file
        self._vectors = vectors
        self._owner = uuid4().hex

    def run(self, progress: Callable[[int], None]) -> None:
        with self._file.write() as connection:
            self._vectors.forget_strange(connection)
        while not self.stopped.is_set() and self._batch():
            with self._file.read() as connection:
                progress(self._vectors.missing(connection))

    def _batch(self) -> bool:
        """Whether there may be more to do, and it is ours to do."""
        with self._file.read() as connection:
            unread = self._vectors.unread(connection, BATCH)
            notes = {note_id: rows.get(connection, note_id) for _, note_id, _, _ in unread}
        readings = {
            passage: reading(note, Passage(start, stop, note.content[start:stop]))
            for passage, note_id, start, stop in unread
            if (note := notes[note_id])
        }
        if not readings or not self._lease():
            return False
        vectors = self._vectors.embed(list(readings.values()))
        with self._file.write() as connection:
            alive = _still_there(connection, list(readings))
            keep = [at for at, passage in enumerate(readings) if passage in alive]
            self._vectors.insert(connection, [list(readings)[at] for at in keep], vectors[keep])
        return True

    def _lease(self) -> bool:
        """One that ends later than any can was written while the clock was wrong, and counts for nothing."""
        now = time.time()
        with self._file.write() as connection:
            connection.execute(
                "INSERT INTO leases VALUES ('backfill', ?, ?) ON CONFLICT (name) DO UPDATE"
                " SET owner = excluded.owner, until = excluded.until WHERE owner = excluded.owner"
                " OR until < ? OR until > excluded.until",
                (self._owner, now + LEASE_SECONDS, now),
            )
            (owner,) = connection.execute("SELECT owner FROM leases WHERE name = 'backfill'").fetchone()
        return bool(owner == self._owner)


def _still_there(connection: sqlite3.Connection, passages: list[int]) -> set[int]:
    """A note may have been deleted while its passages were being read."""
    found = connection.execute(
        "SELECT id FROM passages WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(passages),)
    )
    return {row[0] for row in found}
