"""Vectors of one model: made by the embedder, kept and compared by pgvector.

Few passages, or the few that a filter leaves, are compared one by one. Beyond that an HNSW index over half-precision
copies proposes, and goes on proposing until the filter has let enough through. Either way what is found is scored with
the float32 vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from chie.knowledge.embedding.base import Embedder
from chie.knowledge.store.postgres.corpus import Change, Corpus

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors
    from chie.knowledge.store.postgres.pool import Connection, PostgresServer

NARROW = 5_000  # passages that are compared one by one sooner than proposed by the index
BREADTH = 800  # candidates that the index keeps as it looks; at 100,000 notes, half of them lose one hit in thirty
FARTHEST = 100_000  # rows of the index that one search looks at, at most

_SEEN = "({0}owner IS NULL OR {0}owner = %(viewer)s)"
_TAGGED = "{0}labels @> %(labels)s::text[]"


@dataclass(frozen=True)
class Sight:
    """Which passages a search may find: those that carry all the labels, and that the viewer may see."""

    labels: list[str]
    viewer: str

    def where(self, table: str = "") -> str:
        return _SEEN.format(table) + (f" AND {_TAGGED.format(table)}" if self.labels else "")

    @property
    def values(self) -> dict[str, Any]:
        return {"labels": self.labels, "viewer": self.viewer}


# Of the length that the model gives. Another was stored if the model was changed under its name, and would stop every
# search: pgvector compares only like with like.
ALIKE = "vector_dims(v.vector) = {}"


def settings() -> str:
    """For a transaction that searches. A planner that has not seen statistics yet, as after many notes came at once,
    must not read whole tables to join a few rows, nor sort all vectors rather than walk the index."""
    return (
        "SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_hashjoin = off;"
        "SET LOCAL enable_mergejoin = off; SET LOCAL hnsw.iterative_scan = 'relaxed_order';"
        f"SET LOCAL hnsw.ef_search = {BREADTH}; SET LOCAL hnsw.max_scan_tuples = {FARTHEST};"
    )


class PostgresVectors:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._registering = Lock()
        self._number: int | None = None
        self.model: str | None = None
        self.dimension = 0

    @property
    def embedder_id(self) -> str:
        return self._embedder.id

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Raises EmbeddingError. The first call names the model: its id and how many numbers it gives."""
        vectors = self._embedder.embed(texts)
        if self.model is None:
            self.dimension = vectors.shape[1]
            self.model = f"{self._embedder.id}:{self.dimension}"
        return vectors

    def know_model(self) -> None:
        """Raises EmbeddingError where nobody knows how many numbers the model gives, and it cannot be asked."""
        if self.model is None:
            self.embed(["知恵"])

    def register(self, server: "PostgresServer") -> None:
        """Give the model a number, in a transaction of its own: one that is undone would take the number with it."""
        with self._registering:
            if self._number is None:
                self._number = server.write(self._numbered)

    def _numbered(self, connection: "Connection") -> int:
        connection.execute("INSERT INTO knowledge_models (name) VALUES (%s) ON CONFLICT DO NOTHING", (self.model,))
        row = connection.execute("SELECT id FROM knowledge_models WHERE name = %s", (self.model,)).fetchone()
        return int(row[0]) if row else 0

    def insert(self, connection: "Connection", passages: Sequence[int], vectors: "Vectors", change: Change) -> None:
        """Another process may have been quicker, or the passage may be gone; then there is nothing to do."""
        done = connection.execute(
            "INSERT INTO knowledge_vectors (passage, model, note, owner, labels, vector)"
            " SELECT p.id, %(model)s, p.note, p.owner, p.labels, v.vector::vector"
            " FROM unnest(%(passages)s::bigint[], %(vectors)s::text[]) AS v (passage, vector)"
            " JOIN knowledge_passages p ON p.id = v.passage ORDER BY p.id FOR KEY SHARE OF p ON CONFLICT DO NOTHING",
            {"model": self._number, "passages": list(passages), "vectors": [literal(row) for row in vectors]},
        )
        change.vectors[self._number or 0] += done.rowcount

    def nearest(
        self, connection: "Connection", corpus: Corpus, query: "Vectors", count: int, sight: Sight
    ) -> list[int]:
        """The best passage of each of the nearest notes."""
        if corpus.model is None:
            return []
        indexed = corpus.indexed and not ((sight.labels or corpus.hides) and _is_narrow(connection, sight))
        depth = 2 * count
        while True:
            close = self._by_index if indexed else self._one_by_one
            found = close(connection, corpus.model, query, depth, sight)
            first: dict[int, int] = {}
            for passage, note in found:
                first.setdefault(note, passage)
            if len(first) >= count or (len(found) < depth and not indexed):
                return list(first.values())[:count]
            indexed = indexed and len(found) == depth  # the index gave up before the filter had enough
            depth *= 4

    def forget_strange(self, connection: "Connection") -> None:
        """What `ALIKE` leaves out, so that its passages are read again. In one statement, as it may take its time."""
        connection.execute(
            f"WITH gone AS (DELETE FROM knowledge_vectors v WHERE v.model = %(model)s"
            f" AND NOT {ALIKE.format(self.dimension)} RETURNING 1) UPDATE knowledge_models SET vectors = vectors"
            " - (SELECT count(*) FROM gone) WHERE id = %(model)s AND EXISTS (SELECT 1 FROM gone)",
            {"model": self._number},
        )

    def unread(self, connection: "Connection", after: int, count: int) -> list[tuple[int, str, int, int]]:
        """Some passages that the model has not read: passage, note id, start and stop."""
        return connection.execute(
            "SELECT p.id, n.id, p.start, p.stop FROM knowledge_passages p JOIN knowledge_notes n ON n.seq = p.note"
            " WHERE p.id > %s AND NOT EXISTS"
            " (SELECT 1 FROM knowledge_vectors v WHERE v.passage = p.id AND v.model = %s) ORDER BY p.id LIMIT %s",
            (after, self._number, count),
        ).fetchall()

    def first_passages(
        self, connection: "Connection", corpus: Corpus, count: int, viewer: str
    ) -> "tuple[list[tuple[str, str, list[str]]], Vectors]":
        """Id, title and tags of the newest notes that the viewer sees, and how each begins."""
        with connection.cursor(binary=True) as cursor:
            found = cursor.execute(
                "SELECT n.id, n.title, n.tags, v.vector FROM knowledge_notes n JOIN knowledge_passages p"
                " ON p.note = n.seq AND p.start = 0 JOIN knowledge_vectors v ON v.passage = p.id AND v.model = %s"
                f" AND {ALIKE.format(self.dimension)}"
                " WHERE NOT n.private OR n.user_id = %s ORDER BY n.created_at DESC, n.id DESC LIMIT %s",
                (corpus.model, viewer, count),
            ).fetchall()
        return [row[:3] for row in found], matrix([row[3] for row in found])

    def of_notes(self, connection: "Connection", note_ids: Sequence[str]) -> "dict[tuple[str, int, int], Vectors]":
        """By note, start and stop of the passage."""
        with connection.cursor(binary=True) as cursor:
            found = cursor.execute(
                "SELECT n.id, p.start, p.stop, v.vector FROM knowledge_notes n JOIN knowledge_passages p"
                " ON p.note = n.seq JOIN knowledge_vectors v ON v.passage = p.id JOIN knowledge_models m"
                f" ON m.id = v.model WHERE n.id = ANY(%s) AND m.name = %s AND {ALIKE.format(self.dimension)}",
                (list(note_ids), self.model),
            ).fetchall()
        rows = matrix([row[3] for row in found])
        return {(row[0], row[1], row[2]): vector for row, vector in zip(found, rows, strict=True)}

    def _one_by_one(
        self, connection: "Connection", model: int, query: "Vectors", depth: int, sight: Sight
    ) -> list[tuple[int, int]]:
        among = (
            f" AND v.passage IN (SELECT p.id FROM knowledge_passages p WHERE {sight.where('p.')})"
            if sight.labels
            else f" AND {sight.where('v.')}"
        )
        return connection.execute(
            "SELECT v.passage, v.note FROM knowledge_vectors v"
            f" WHERE v.model = {model} AND {ALIKE.format(self.dimension)}{among}"
            " ORDER BY v.vector <#> %(query)s::vector, v.passage LIMIT %(depth)s",
            sight.values | {"query": literal(query), "depth": depth},
        ).fetchall()

    def _by_index(
        self, connection: "Connection", model: int, query: "Vectors", depth: int, sight: Sight
    ) -> list[tuple[int, int]]:
        """The model and its dimension are written out: only then does the planner know which index is meant."""
        half = f"halfvec({self.dimension})"
        if depth > BREADTH:
            connection.execute(f"SET LOCAL hnsw.ef_search = {min(depth, 1000)}")
        return connection.execute(
            f"SELECT v.passage, v.note FROM knowledge_vectors v WHERE v.model = {model} AND {sight.where('v.')}"
            f" ORDER BY v.vector::{half} <#> %(query)s::{half} LIMIT %(depth)s",
            sight.values | {"query": literal(query), "depth": depth},
        ).fetchall()


def _is_narrow(connection: "Connection", sight: Sight) -> bool:
    row = connection.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM knowledge_passages WHERE {sight.where()} LIMIT {NARROW + 1}) few",
        sight.values,
    ).fetchone()
    return bool(row and row[0] <= NARROW)


def literal(vector: "Vectors") -> str:
    """As pgvector writes one; every digit of a float32 survives."""
    return "[" + ",".join(map(str, vector.tolist())) + "]"


def matrix(blobs: Sequence[bytes]) -> "Vectors":
    """From pgvector's binary form: two short numbers, then the vector in network order."""
    import numpy as np

    rows = np.frombuffer(b"".join(blob[4:] for blob in blobs), ">f4").astype(np.float32)
    return rows.reshape(len(blobs), -1) if blobs else rows.reshape(0, 0)
