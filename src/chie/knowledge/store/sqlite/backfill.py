"""Brings the index up to date: notes that older rules split and tokenized, passages that the current model has not
embedded yet, and vectors of former models, which are deleted when every passage has one of the current model.

The work is done in small transactions, so it can be interrupted anywhere. A lease in the file keeps other processes
from doing it too.
"""

import json
import sqlite3
import time
from collections.abc import Callable
from typing import TYPE_CHECKING
from uuid import uuid4

from chie.knowledge.embedding.base import EmbeddingError
from chie.knowledge.search.passages import split
from chie.knowledge.store.background import (
    BACKFILL_BATCH_SIZE,
    BACKFILL_LEASE_SECONDS,
    MODEL_LEASE_SECONDS,
    PRUNE_BATCH_SIZE,
    BackgroundTask,
)
from chie.knowledge.store.sql_store import backfill_texts
from chie.knowledge.store.sqlite import note_table
from chie.knowledge.store.sqlite.file import SqliteFile
from chie.knowledge.store.sqlite.vectors import SqliteVectors

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors


class Backfill(BackgroundTask):
    def __init__(self, file: SqliteFile, vectors: SqliteVectors) -> None:
        super().__init__("chie-backfill")
        self._file = file
        self._vectors = vectors
        self._owner = uuid4().hex

    def run(self, progress: Callable[[int], None]) -> None:
        with self._file.write() as connection:
            self._vectors.delete_mismatched(connection)
            self._vectors.keep_in_use(connection, time.time() + MODEL_LEASE_SECONDS)
        while not self.stopped.is_set() and self._reindex():
            pass
        while not self.stopped.is_set() and self._batch():
            with self._file.read() as connection:
                progress(self._vectors.missing(connection))
        while not self.stopped.is_set() and self._prune():
            pass

    def _reindex(self) -> bool:
        """Return whether there may be more to do. Notes are found by their old passages until the new ones have
        vectors; only if nothing can be embedded, words alone are indexed."""
        with self._file.read() as connection:
            notes = note_table.outdated(connection, BACKFILL_BATCH_SIZE)
        if not notes or not self._acquire_lease():
            return False
        cut = {seq: split(note) for seq, note in notes.items()}
        vectors = self._embed([passage.text for passages in cut.values() for passage in passages])
        with self._file.write() as connection:
            position = 0
            for seq, passages in cut.items():
                ids = note_table.reindex(connection, seq, notes[seq], passages)
                if vectors is not None and ids:
                    self._vectors.insert(connection, ids, vectors[position : position + len(passages)])
                position += len(passages)
        return True

    def _embed(self, texts: list[str]) -> "Vectors | None":
        try:
            return self._vectors.embed(texts)
        except EmbeddingError:
            return None

    def _prune(self) -> bool:
        """Return whether there may be more vectors of former models."""
        with self._file.write() as connection:
            return self._vectors.missing(connection) == 0 and self._vectors.prune(
                connection, time.time(), PRUNE_BATCH_SIZE
            )

    def _batch(self) -> bool:
        """Return whether there may be more to do, and this process holds the lease."""
        with self._file.read() as connection:
            found = self._vectors.without_vectors(connection, BACKFILL_BATCH_SIZE)
            notes = {note_id: note_table.get(connection, note_id) for _, note_id, _ in found}
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
