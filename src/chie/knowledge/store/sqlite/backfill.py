"""Embeds passages that the current model has not embedded yet: after a change of model, or while it was unavailable.

The work is done in small transactions, so it can be interrupted anywhere. A lease in the file keeps other processes
from doing it too.
"""

import json
import sqlite3
import time
from collections.abc import Callable
from uuid import uuid4

from chie.knowledge.store.background import BACKFILL_BATCH_SIZE, BACKFILL_LEASE_SECONDS, BackgroundTask
from chie.knowledge.store.sql_store import backfill_texts
from chie.knowledge.store.sqlite import note_table
from chie.knowledge.store.sqlite.file import SqliteFile
from chie.knowledge.store.sqlite.vectors import SqliteVectors


class Backfill(BackgroundTask):
    def __init__(self, file: SqliteFile, vectors: SqliteVectors) -> None:
        super().__init__("chie-backfill")
        self._file = file
        self._vectors = vectors
        self._owner = uuid4().hex

    def run(self, progress: Callable[[int], None]) -> None:
        with self._file.write() as connection:
            self._vectors.delete_mismatched(connection)
        while not self.stopped.is_set() and self._batch():
            with self._file.read() as connection:
                progress(self._vectors.missing(connection))

    def _batch(self) -> bool:
        """Return whether there may be more to do, and this process holds the lease."""
        with self._file.read() as connection:
            found = self._vectors.without_vectors(connection, BACKFILL_BATCH_SIZE)
            notes = {note_id: note_table.get(connection, note_id) for _, note_id, _, _ in found}
        texts = backfill_texts(found, notes)
        if not texts or not self._acquire_lease():
            return False
        passages = list(texts)
        vectors = self._vectors.embed(list(texts.values()))
        with self._file.write() as connection:
            existing = _existing(connection, passages)
            keep = [at for at, passage in enumerate(passages) if passage in existing]
            self._vectors.insert(connection, [passages[at] for at in keep], vectors[keep])
        return True

    def _acquire_lease(self) -> bool:
        """A lease that ends later than any can was written while the clock was wrong, and is ignored."""
        now = time.time()
        with self._file.write() as connection:
            connection.execute(
                "INSERT INTO leases VALUES ('backfill', ?, ?) ON CONFLICT (name) DO UPDATE"
                " SET owner = excluded.owner, until = excluded.until WHERE owner = excluded.owner"
                " OR until < ? OR until > excluded.until",
                (self._owner, now + BACKFILL_LEASE_SECONDS, now),
            )
            (owner,) = connection.execute("SELECT owner FROM leases WHERE name = 'backfill'").fetchone()
        return bool(owner == self._owner)


def _existing(connection: sqlite3.Connection, passages: list[int]) -> set[int]:
    """A note may have been deleted while its passages were embedded."""
    found = connection.execute(
        "SELECT id FROM passages WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(passages),)
    )
    return {row[0] for row in found}
