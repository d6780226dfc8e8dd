"""Reads passages that the present model has not read yet: after a change of model, or after it could not load.

It works in the background in small transactions, so it can be interrupted anywhere and goes on where it stopped.
A lease in the file keeps other processes from doing the same work.
"""

import json
import logging
import sqlite3
import time
from collections.abc import Callable
from threading import Event, Lock, Thread
from uuid import uuid4

from chie.errors import ChieError
from chie.knowledge.passages import Passage, reading
from chie.knowledge.store.sqlite import rows
from chie.knowledge.store.sqlite.file import SqliteFile
from chie.knowledge.store.sqlite.vectors import SqliteVectors

logger = logging.getLogger(__name__)

BATCH = 32
LEASE_SECONDS = 60.0


class Backfill:
    def __init__(self, file: SqliteFile, vectors: SqliteVectors) -> None:
        self._file = file
        self._vectors = vectors
        self._owner = uuid4().hex
        self._stop = Event()
        self._starting = Lock()
        self._thread: Thread | None = None

    def start(self) -> None:
        """Begin, unless it is under way."""
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._run, name="chie-backfill", daemon=True)
                self._thread.start()

    def close(self) -> None:
        self._stop.set()
        if self._thread:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        try:
            self.run(lambda left: logger.info("%d passages left to read for the present model", left))
        except ChieError as error:
            logger.warning("reading passages for the present model stopped: %s", error)

    def run(self, progress: Callable[[int], None]) -> None:
        while not self._stop.is_set() and self._batch():
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
        now = time.time()
        with self._file.write() as connection:
            connection.execute(
                "INSERT INTO leases VALUES ('backfill', ?, ?) ON CONFLICT (name) DO UPDATE"
                " SET owner = excluded.owner, until = excluded.until WHERE owner = excluded.owner OR until < ?",
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
