"""The vectors of one model, stored by pgvector."""

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

from chie.knowledge.store.background import MODEL_LEASE_SECONDS
from chie.knowledge.store.postgres.statistics import Statistics, StatisticsChange
from chie.knowledge.store.postgres.visibility import visible
from chie.knowledge.store.sql_store import EmbeddingModel, PassageKey
from chie.knowledge.viewer import Viewer

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors
    from chie.knowledge.store.postgres.pool import Connection, PostgresPool

# Vectors of another dimension were stored if the model changed under its name. pgvector fails when it compares them.
SAME_DIMENSION = "vector_dims(v.vector) = {}"


class PostgresVectors:
    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model
        self._register_lock = Lock()
        self._model_id: int | None = None

    @property
    def model(self) -> str | None:
        return self._model.name

    @property
    def dimension(self) -> int:
        return self._model.dimension

    def embed(self, texts: Sequence[str]) -> "Vectors":
        return self._model.embed(texts)

    def register(self, pool: "PostgresPool") -> None:
        """Assign an id to the model in a transaction of its own, because a rollback would take the id back."""
        with self._register_lock:
            if self._model_id is None:
                self._model_id = pool.write(self._find_or_add_model)

    def _find_or_add_model(self, connection: "Connection") -> int:
        connection.execute("INSERT INTO knowledge_models (name) VALUES (%s) ON CONFLICT DO NOTHING", (self.model,))
        row = connection.execute("SELECT id FROM knowledge_models WHERE name = %s", (self.model,)).fetchone()
        return int(row[0]) if row else 0

    def insert(
        self, connection: "Connection", passages: Sequence[int], vectors: "Vectors", change: StatisticsChange
    ) -> None:
        """Skips passages that were deleted, or that another process has embedded first."""
        done = connection.execute(
            "INSERT INTO knowledge_vectors (passage, model, note, owner, labels, vector)"
            " SELECT p.id, %(model)s, p.note, p.owner, p.labels, v.vector::vector"
            " FROM unnest(%(passages)s::bigint[], %(vectors)s::text[]) AS v (passage, vector)"
            " JOIN knowledge_passages p ON p.id = v.passage ORDER BY p.id FOR KEY SHARE OF p ON CONFLICT DO NOTHING",
            {"model": self._model_id, "passages": list(passages), "vectors": [vector_literal(row) for row in vectors]},
        )
        change.vectors[self._model_id or 0] += done.rowcount

    def delete_mismatched(self, connection: "Connection") -> None:
        """Delete vectors of another dimension, so that their passages are embedded again. It may take long, hence one
        statement without a transaction."""
        mismatched = f"v.model = %(model)s AND NOT {SAME_DIMENSION.format(self.dimension)}"
        connection.execute(
            f"WITH gone AS (DELETE FROM knowledge_vectors v WHERE {mismatched} RETURNING 1)"
            " UPDATE knowledge_models SET vectors = vectors - (SELECT count(*) FROM gone)"
            " WHERE id = %(model)s AND EXISTS (SELECT 1 FROM gone)",
            {"model": self._model_id},
        )

    def prune(self, connection: "Connection") -> None:
        """Delete the vectors of former models, unless a process has embedded passages with one lately: it may still
        run, and would embed them all again. Their indexes are dropped first."""
        former = connection.execute(
            "SELECT id FROM knowledge_models m WHERE vectors > 0 AND id <> %s AND NOT EXISTS (SELECT 1"
            " FROM knowledge_leases WHERE name = 'read ' || m.name AND until > now() - make_interval(secs => %s))",
            (self._model_id, MODEL_LEASE_SECONDS),
        ).fetchall()
        for (model,) in former:
            connection.execute(f"DROP INDEX IF EXISTS knowledge_nearest_{model}")
            connection.execute("DELETE FROM knowledge_vectors WHERE model = %s", (model,))
            connection.execute("UPDATE knowledge_models SET vectors = 0 WHERE id = %s", (model,))

    def without_vectors(self, connection: "Connection", after: int, count: int) -> list[tuple[int, str, int]]:
        """Up to `count` passages without a vector: passage, note id and part."""
        return connection.execute(
            "SELECT p.id, n.id, p.part FROM knowledge_passages p JOIN knowledge_notes n ON n.seq = p.note"
            " WHERE p.id > %s AND NOT EXISTS"
            " (SELECT 1 FROM knowledge_vectors v WHERE v.passage = p.id AND v.model = %s) ORDER BY p.id LIMIT %s",
            (after, self._model_id, count),
        ).fetchall()

    def map_vectors(
        self, connection: "Connection", stats: Statistics, count: int, viewer: Viewer
    ) -> "tuple[list[tuple[str, str, list[str]]], Vectors]":
        """Id, title and tags of the newest notes visible to the viewer, and the vectors of their first passages."""
        seen, values = visible(viewer, "n.")
        with connection.cursor(binary=True) as cursor:
            found = cursor.execute(
                "SELECT n.id, n.title, n.tags, v.vector FROM knowledge_notes n JOIN knowledge_passages p"
                " ON p.note = n.seq AND p.part = 0 JOIN knowledge_vectors v ON v.passage = p.id AND v.model = %s"
                f" AND {SAME_DIMENSION.format(self.dimension)}"
                f" WHERE {seen} ORDER BY n.created_at DESC, n.id DESC LIMIT %s",
                (stats.model, *values, count),
            ).fetchall()
        return [row[:3] for row in found], matrix([row[3] for row in found])

    def first_of_all(self, connection: "Connection") -> "tuple[list[str], Vectors]":
        """The ids of all notes with the vectors of their first passages."""
        with connection.cursor(binary=True) as cursor:
            found = cursor.execute(
                "SELECT n.id, v.vector FROM knowledge_notes n JOIN knowledge_passages p"
                " ON p.note = n.seq AND p.part = 0 JOIN knowledge_vectors v ON v.passage = p.id"
                " JOIN knowledge_models m ON m.id = v.model"
                f" WHERE m.name = %s AND {SAME_DIMENSION.format(self.dimension)}",
                (self.model,),
            ).fetchall()
        return [row[0] for row in found], matrix([row[1] for row in found])

    def of_notes(self, connection: "Connection", note_ids: Sequence[str]) -> "dict[PassageKey, Vectors]":
        with connection.cursor(binary=True) as cursor:
            found = cursor.execute(
                "SELECT n.id, p.part, v.vector FROM knowledge_notes n JOIN knowledge_passages p"
                " ON p.note = n.seq JOIN knowledge_vectors v ON v.passage = p.id JOIN knowledge_models m"
                f" ON m.id = v.model WHERE n.id = ANY(%s) AND m.name = %s AND {SAME_DIMENSION.format(self.dimension)}",
                (list(note_ids), self.model),
            ).fetchall()
        rows = matrix([row[2] for row in found])
        return {(row[0], row[1]): vector for row, vector in zip(found, rows, strict=True)}


def vector_literal(vector: "Vectors") -> str:
    """The vector in pgvector's text format; nine digits distinguish all numbers of this precision."""
    return "[" + ",".join([f"{number:.9g}" for number in vector.tolist()]) + "]"


def matrix(blobs: Sequence[bytes]) -> "Vectors":
    """Parse pgvector's binary format: two 16-bit numbers, then the vector in network byte order."""
    import numpy as np

    rows = np.frombuffer(b"".join(blob[4:] for blob in blobs), ">f4").astype(np.float32)
    return rows.reshape(len(blobs), -1) if blobs else rows.reshape(0, 0)
