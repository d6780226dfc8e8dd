"""Background work of one process at a time: embedding, indexing and statistics.

Notes that older rules split and tokenized are indexed again. Passages that the current model has not embedded yet,
after a change of model or while it was unavailable, are embedded. Both is done in small transactions under a lease, so
that the work can be interrupted and another process can continue. Then, with enough vectors, the index for
nearest-neighbour search is built, and vectors of former models are deleted.
"""

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from chie.knowledge.embedding.base import EmbeddingError
from chie.knowledge.store.background import BACKFILL_BATCH_SIZE, BACKFILL_LEASE_SECONDS, BackgroundTask
from chie.knowledge.store.postgres import note_table, statistics
from chie.knowledge.store.postgres.note_table import Draft
from chie.knowledge.store.postgres.statistics import Statistics, StatisticsChange
from chie.knowledge.store.postgres.vectors import PostgresVectors
from chie.knowledge.store.sql_store import backfill_texts

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors
    from chie.knowledge.store.postgres.pool import Connection, PostgresPool

logger = logging.getLogger(__name__)

MIN_INDEXED_VECTORS = 10_000  # an exact scan of fewer takes a few milliseconds
MAX_INDEX_DIMENSIONS = 4_000  # pgvector's limit for half-precision indexes
INDEX_BUILD_BREADTH = 400  # ef_construction: half of it builds in half the time and loses twice as many hits
# An index that fits into `maintenance_work_mem` is built many times faster.
GRAPH_BYTES = 900  # that it needs for a passage, beside the half-precision vector
MIN_INDEX_BUILD_MB, MAX_INDEX_BUILD_MB = 256, 8_192
INDEX_LOCK = 6_840_303


class Backfill(BackgroundTask):
    def __init__(self, pool: "Callable[[], PostgresPool]", vectors: PostgresVectors) -> None:
        super().__init__("chie-backfill")
        self._pool = pool
        self._vectors = vectors
        self._owner = uuid4().hex

    def needs_index(self, stats: Statistics) -> bool:
        enough = stats.public_passages >= MIN_INDEXED_VECTORS
        return not stats.indexed and enough and self._vectors.dimension <= MAX_INDEX_DIMENSIONS

    def run(self, progress: Callable[[int], None]) -> None:
        self._vectors.register(self._pool())
        with self._pool().session() as connection:
            self._vectors.delete_mismatched(connection)
        while not self.stopped.is_set() and self._reindex():
            pass
        position = 0
        while not self.stopped.is_set() and (last := self._batch(position)) is not None:
            position = last
            progress(self._statistics().missing)
        stats = self._statistics()
        if not self.stopped.is_set() and self.needs_index(stats) and stats.model is not None:
            self.build_index(stats.model, stats.public_passages)
        if not self.stopped.is_set() and not stats.missing:
            self._pool().write(self._vectors.prune)
        with self._pool().session() as connection:  # without statistics the planner chooses badly
            connection.execute(
                "ANALYZE knowledge_notes, knowledge_passages, knowledge_vectors, knowledge_vocabulary, knowledge_models"
            )

    def _reindex(self) -> bool:
        """Return whether there may be more to do. Notes are found by their old passages until the new ones have
        vectors; only if nothing can be embedded, words alone are indexed."""
        notes = self._pool().read(lambda connection: note_table.outdated(connection, BACKFILL_BATCH_SIZE))
        if not notes or not self._pool().write(self._acquire_lease):
            return False
        drafts = {seq: Draft.of(note) for seq, note in notes.items()}
        vectors = {seq: self._embed([passage.text for passage in draft.passages]) for seq, draft in drafts.items()}

        def work(connection: "Connection") -> None:
            change = StatisticsChange()
            for seq, draft in sorted(drafts.items()):
                if note_table.clear_index(connection, seq, draft.note, change):
                    ids = note_table.insert_passages(connection, [(seq, draft)], change)
                    if (rows := vectors[seq]) is not None:
                        self._vectors.insert(connection, ids, rows, change)
            statistics.apply(connection, change)

        self._pool().write(work)
        return True

    def _embed(self, texts: Sequence[str]) -> "Vectors | None":
        try:
            return self._vectors.embed(texts)
        except EmbeddingError:
            return None

    def build_index(self, model: int, passages: int) -> None:
        """Index public notes, concurrently with searches and writes. The session holds the lock for as long as the
        server builds."""
        needed = passages * (2 * self._vectors.dimension + GRAPH_BYTES) // 10**6
        memory = min(max(needed, MIN_INDEX_BUILD_MB), MAX_INDEX_BUILD_MB)
        name, half = f"knowledge_nearest_{model}", f"halfvec({self._vectors.dimension})"
        with self._pool().session() as connection:
            row = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (INDEX_LOCK, model)).fetchone()
            if not row or not row[0] or statistics.read(connection, self._vectors.model, None).indexed:
                return
            logger.info("building the index %s", name)
            connection.execute(
                f"SET statement_timeout = 0; SET lock_timeout = 0; SET maintenance_work_mem = '{memory}MB'"
            )
            connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")  # an unfinished one
            connection.execute(
                f"CREATE INDEX CONCURRENTLY {name} ON knowledge_vectors USING hnsw ((vector::{half}) halfvec_ip_ops)"
                f" WITH (ef_construction = {INDEX_BUILD_BREADTH}) WHERE model = {model} AND owner IS NULL"
            )

    def _statistics(self) -> Statistics:
        return self._pool().read(lambda connection: statistics.read(connection, self._vectors.model, None))

    def _batch(self, after: int) -> int | None:
        """The last passage that was embedded; None if none is left or another process holds the lease."""
        texts = self._pool().read(lambda connection: self._texts(connection, after))
        if not texts or not self._pool().write(self._acquire_lease):
            return None
        vectors = self._vectors.embed(list(texts.values()))

        def insert(connection: "Connection") -> None:
            change = StatisticsChange()
            self._vectors.insert(connection, list(texts), vectors, change)
            statistics.apply(connection, change)

        self._pool().write(insert)
        return max(texts)

    def _texts(self, connection: "Connection", after: int) -> dict[int, str]:
        found = self._vectors.without_vectors(connection, after, BACKFILL_BATCH_SIZE)
        return backfill_texts(found, {note_id: note_table.get(connection, note_id) for _, note_id, _ in found})

    def _acquire_lease(self, connection: "Connection") -> bool:
        """By the server's clock, because the clocks of processes may differ."""
        row = connection.execute(
            "INSERT INTO knowledge_leases VALUES (%s, %s, now() + make_interval(secs => %s)) ON CONFLICT (name)"
            " DO UPDATE SET owner = excluded.owner, until = excluded.until"
            " WHERE knowledge_leases.owner = excluded.owner OR knowledge_leases.until < now() RETURNING owner",
            (f"read {self._vectors.model}", self._owner, BACKFILL_LEASE_SECONDS),
        ).fetchone()
        return row is not None
