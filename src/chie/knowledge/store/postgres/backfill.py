"""What may wait, done in the background and by one process at a time.

It reads passages that the present model has not read yet, after a change of model or after it could not load, in small
transactions under a lease: it can be interrupted anywhere and another process goes on. Then, if there are many, it
builds the index that finds the nearest without comparing all.
"""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING
from uuid import uuid4

from chie.knowledge.passages import Passage, reading
from chie.knowledge.store.background import Background
from chie.knowledge.store.postgres import corpus as counts
from chie.knowledge.store.postgres import rows
from chie.knowledge.store.postgres.corpus import Change, Corpus
from chie.knowledge.store.postgres.vectors import PostgresVectors

if TYPE_CHECKING:
    from chie.knowledge.store.postgres.pool import Connection, PostgresServer

logger = logging.getLogger(__name__)

BATCH = 32
LEASE_SECONDS = 60
INDEX_FROM = 10_000  # vectors of a model; comparing fewer one by one takes a few milliseconds
DIMENSIONS = 4_000  # the most that an index of half-precision vectors takes
CARE = 400  # with which the index is built; half of it is built in half the time, and loses twice as many hits
MEMORY = "256MB"  # an index that is built in memory is built many times quicker
LOCK = 6_840_303


class Upkeep(Background):
    def __init__(self, server: "Callable[[], PostgresServer]", vectors: PostgresVectors) -> None:
        super().__init__("chie-upkeep")
        self._server = server
        self._vectors = vectors
        self._owner = uuid4().hex

    def wants_index(self, corpus: Corpus) -> bool:
        return not corpus.indexed and corpus.vectors >= INDEX_FROM and self._vectors.dimension <= DIMENSIONS

    def run(self, progress: Callable[[int], None]) -> None:
        self._vectors.register(self._server())
        with self._server().session() as connection:
            self._vectors.forget_strange(connection)
        read_up_to = 0
        while not self.stopped.is_set() and (last := self._batch(read_up_to)) is not None:
            read_up_to = last
            progress(self._look().missing)
        corpus = self._look()
        if not self.stopped.is_set() and self.wants_index(corpus) and corpus.model is not None:
            self.build_index(corpus.model)
        with self._server().session() as connection:  # until it has counted, the planner guesses, and guesses badly
            connection.execute(
                "ANALYZE knowledge_notes, knowledge_passages, knowledge_vectors, knowledge_vocabulary, knowledge_models"
            )

    def build_index(self, model: int) -> None:
        """Searches and writes go on meanwhile. The lock is the session's: it lasts as long as the server builds."""
        name, half = f"knowledge_nearest_{model}", f"halfvec({self._vectors.dimension})"
        with self._server().session() as connection:
            row = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (LOCK, model)).fetchone()
            if not row or not row[0] or counts.look(connection, self._vectors.model).indexed:
                return
            logger.info("building the index %s", name)
            connection.execute(
                f"SET statement_timeout = 0; SET lock_timeout = 0; SET maintenance_work_mem = '{MEMORY}'"
            )
            connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")  # one that was not finished
            connection.execute(
                f"CREATE INDEX CONCURRENTLY {name} ON knowledge_vectors"
                f" USING hnsw ((vector::{half}) halfvec_ip_ops) WITH (ef_construction = {CARE}) WHERE model = {model}"
            )

    def _look(self) -> Corpus:
        return self._server().read(lambda connection: counts.look(connection, self._vectors.model))

    def _batch(self, after: int) -> int | None:
        """The last passage that was read; None when none is left, or when it is another's to do."""
        readings = self._server().read(lambda connection: self._unread(connection, after))
        if not readings or not self._server().write(self._lease):
            return None
        vectors = self._vectors.embed(list(readings.values()))

        def keep(connection: "Connection") -> None:
            change = Change()
            self._vectors.insert(connection, list(readings), vectors, change)
            counts.apply(connection, change)

        self._server().write(keep)
        return max(readings)

    def _unread(self, connection: "Connection", after: int) -> dict[int, str]:
        unread = self._vectors.unread(connection, after, BATCH)
        notes = {note_id: rows.get(connection, note_id) for _, note_id, _, _ in unread}
        return {
            passage: reading(note, Passage(start, stop, note.content[start:stop]))
            for passage, note_id, start, stop in unread
            if (note := notes[note_id])
        }

    def _lease(self, connection: "Connection") -> bool:
        """By the server's clock, for those of the processes may differ."""
        row = connection.execute(
            "INSERT INTO knowledge_leases VALUES (%s, %s, now() + make_interval(secs => %s)) ON CONFLICT (name)"
            " DO UPDATE SET owner = excluded.owner, until = excluded.until"
            " WHERE knowledge_leases.owner = excluded.owner OR knowledge_leases.until < now() RETURNING owner",
            (f"read {self._vectors.model}", self._owner, LEASE_SECONDS),
        ).fetchone()
        return row is not None
