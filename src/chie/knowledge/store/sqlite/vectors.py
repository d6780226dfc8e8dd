"""The vectors of one model: stored in the file, scanned in memory."""

import json
import sqlite3
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from chie.knowledge.store.sql_store import EmbeddingModel, PassageKey
from chie.knowledge.store.sqlite.visibility import visible
from chie.knowledge.viewer import Viewer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chie.knowledge.embedding.base import Vectors
    from chie.knowledge.store.sqlite.vector_index import Estimates, VectorIndex

FLOAT32_BYTES = 4
_MISMATCHED = "model = ? AND length(vector) <> ?"
LOAD_BATCH_SIZE = 4096  # rows; loading all at once would double the memory


class SqliteVectors:
    """Follows the writes of this and other processes: every lookup first loads what is new."""

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model
        self._has_mismatched = False  # whether the model's name has vectors of another size
        self._index: VectorIndex | None = None
        self._newest = 0
        self._deletions = 0
        self._complete_up_to = 0
        self._refreshing = Lock()

    @property
    def _size(self) -> int:
        return self._model.dimension * FLOAT32_BYTES

    def embed(self, texts: Sequence[str]) -> "Vectors":
        return self._model.embed(texts)

    def insert(self, connection: sqlite3.Connection, passages: Sequence[int], vectors: "Vectors") -> None:
        """Keeps a vector that another process has inserted first."""
        connection.executemany(
            "INSERT OR IGNORE INTO vectors (passage, model, vector) VALUES (?, ?, ?)",
            [(passage, self._model.name, vector.tobytes()) for passage, vector in zip(passages, vectors, strict=True)],
        )

    def nearest(
        self,
        connection: sqlite3.Connection,
        query: "Vectors",
        count: int,
        *,
        among: Sequence[int] | None = None,
        without: Sequence[int] = (),
    ) -> list[int]:
        """The best passage of each of the nearest notes."""
        import numpy as np

        index = self._refreshed(connection, len(query))
        chosen = None if among is None else np.array(among, np.int64)
        return index.nearest(query, count, among=chosen, without=np.array(without, np.int64))

    def estimates(self, query: "Vectors", passages: Sequence[int]) -> "Estimates | None":
        """Of their cosines, from memory, as `nearest` has left it."""
        import numpy as np

        return self._index.estimates(query, np.array(passages, np.int64)) if self._index else None

    def lengths(self, connection: sqlite3.Connection, passages: "NDArray[np.int64]") -> "NDArray[np.int64]":
        """In tokens. Those of passages with a vector are in memory."""
        import numpy as np

        index = self._refreshed(connection, self._model.dimension) if self._index else None
        lengths = index.lengths(passages) if index else np.full(len(passages), -1)
        unknown = lengths < 0
        if unknown.any():
            stored = dict(
                connection.execute(
                    "SELECT id, length FROM passages WHERE id IN (SELECT value FROM json_each(?))",
                    (json.dumps(passages[unknown].tolist()),),
                ).fetchall()
            )
            lengths[unknown] = [stored.get(passage, 0) for passage in passages[unknown].tolist()]
        return lengths

    def cosines(self, connection: sqlite3.Connection, query: "Vectors", passages: Sequence[int]) -> dict[int, float]:
        """Exact cosines from the stored vectors; passages without a vector are left out."""
        import numpy as np

        rows = connection.execute(
            "SELECT passage, vector FROM vectors WHERE model = ? AND length(vector) = ?"
            " AND passage IN (SELECT value FROM json_each(?))",
            (self._model.name, self._size, json.dumps(passages)),
        ).fetchall()
        if not rows:
            return {}
        scores = np.vecdot(_matrix([row[1] for row in rows]), query)
        return {row[0]: float(score) for row, score in zip(rows, np.clip(scores, -1, 1), strict=True)}

    def revision(self, connection: sqlite3.Connection) -> str:
        """Changes with every change of a note, because its passages and vectors are replaced."""
        newest, deletions = self._state(connection)
        return f"{self._model.name}/{newest}/{deletions}"

    def map_vectors(self, connection: sqlite3.Connection, count: int, viewer: Viewer) -> "tuple[list[int], Vectors]":
        """The newest notes visible to the viewer, and the vectors of their first passages."""
        seen, values = visible(viewer, "n.")
        found = connection.execute(
            "SELECT n.seq, v.vector FROM notes n JOIN passages p ON p.note = n.seq AND p.part = 0"
            " JOIN vectors v ON v.passage = p.id AND v.model = ? AND length(v.vector) = ?"
            f" WHERE {seen} ORDER BY n.created_at DESC, n.id DESC LIMIT ?",
            (self._model.name, self._size, *values, count),
        ).fetchall()
        return [row[0] for row in found], _matrix([row[1] for row in found])

    def first_of_all(self, connection: sqlite3.Connection) -> "tuple[list[str], Vectors]":
        """The ids of all notes with the vectors of their first passages."""
        found = connection.execute(
            "SELECT n.id, v.vector FROM notes n JOIN passages p ON p.note = n.seq AND p.part = 0"
            " JOIN vectors v ON v.passage = p.id AND v.model = ? AND length(v.vector) = ?",
            (self._model.name, self._size),
        ).fetchall()
        return [row[0] for row in found], _matrix([row[1] for row in found])

    def of_notes(self, connection: sqlite3.Connection, note_ids: Sequence[str]) -> "dict[PassageKey, Vectors]":
        found = connection.execute(
            "SELECT n.id, p.part, v.vector FROM notes n JOIN passages p ON p.note = n.seq"
            " JOIN vectors v ON v.passage = p.id AND v.model = ? AND length(v.vector) = ?"
            " WHERE n.id IN (SELECT value FROM json_each(?))",
            (self._model.name, self._size, json.dumps(note_ids)),
        ).fetchall()
        vectors = _matrix([row[2] for row in found])
        return {(row[0], row[1]): vector for row, vector in zip(found, vectors, strict=True)}

    def missing(self, connection: sqlite3.Connection) -> int:
        """The number of passages without a vector; counted only if passages were added since it was zero."""
        row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'passages'").fetchone()
        if row is None or row[0] == self._complete_up_to:
            return 0
        number: int = connection.execute(
            "SELECT (SELECT count(*) FROM passages) - (SELECT count(*) FROM vectors WHERE model = ?)",
            (self._model.name,),
        ).fetchone()[0]
        if self._has_mismatched:
            (mismatched,) = connection.execute(
                f"SELECT count(*) FROM vectors WHERE {_MISMATCHED}", (self._model.name, self._size)
            ).fetchone()
            self._has_mismatched = mismatched > 0
            number += mismatched
        if number == 0:
            self._complete_up_to = row[0]
        return number

    def missing_among(self, connection: sqlite3.Connection, passages: Sequence[int]) -> int:
        (embedded,) = connection.execute(
            "SELECT count(*) FROM vectors WHERE model = ? AND length(vector) = ?"
            " AND passage IN (SELECT value FROM json_each(?))",
            (self._model.name, self._size, json.dumps(passages)),
        ).fetchone()
        return len(passages) - int(embedded)

    def delete_mismatched(self, connection: sqlite3.Connection) -> None:
        """Delete vectors of another dimension, which another model with the same name has stored."""
        if self._has_mismatched:
            connection.execute(f"DELETE FROM vectors WHERE {_MISMATCHED}", (self._model.name, self._size))

    def keep_in_use(self, connection: sqlite3.Connection, until: float) -> None:
        """Keep other processes from deleting the model's vectors."""
        if self._model.name:
            connection.execute("INSERT OR REPLACE INTO leases VALUES (?, '', ?)", (f"model {self._model.name}", until))

    def prune(self, connection: sqlite3.Connection, now: float, count: int) -> bool:
        """Delete up to `count` vectors of former models; return whether there were any."""
        done = connection.execute(
            "DELETE FROM vectors WHERE seq IN (SELECT seq FROM vectors WHERE model <> ? AND NOT EXISTS"
            " (SELECT 1 FROM leases WHERE name = 'model ' || model AND until > ?) LIMIT ?)",
            (self._model.name, now, count),
        )
        return done.rowcount > 0

    def without_vectors(self, connection: sqlite3.Connection, count: int) -> list[tuple[int, str, int]]:
        """Up to `count` of the missing ones: passage, note id and part."""
        return connection.execute(
            "SELECT p.id, n.id, p.part FROM passages p JOIN notes n ON n.seq = p.note"
            " WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.model = ? AND v.passage = p.id)"
            " ORDER BY p.id LIMIT ?",
            (self._model.name, count),
        ).fetchall()

    def _refreshed(self, connection: sqlite3.Connection, dimension: int) -> "VectorIndex":
        with self._refreshing:
            return self._refresh(connection, dimension)

    def _refresh(self, connection: sqlite3.Connection, dimension: int) -> "VectorIndex":
        """Both numbers only grow. A search that began before another's may come here after it, with an older view of
        the file: what it does not see yet must not be taken for without_vectors, and read again."""
        newest, deletions = self._state(connection)
        if self._index is None:
            from chie.knowledge.store.sqlite.vector_index import VectorIndex

            self._index = VectorIndex(dimension)
            self._index.reserve(newest)
        if newest > self._newest:
            self._load(connection, self._index)
        if deletions > self._deletions:
            self._index.keep(self._alive(connection))
        self._newest, self._deletions = max(newest, self._newest), max(deletions, self._deletions)
        return self._index

    def _state(self, connection: sqlite3.Connection) -> tuple[int, int]:
        newest, deletions = connection.execute(
            "SELECT coalesce(max(seq), 0), (SELECT deletions FROM revision) FROM vectors"
        ).fetchone()
        return newest, deletions

    def _load(self, connection: sqlite3.Connection, index: "VectorIndex") -> None:
        import numpy as np

        cursor = connection.execute(
            "SELECT v.seq, v.passage, p.note, p.length, v.vector FROM vectors v JOIN passages p ON p.id = v.passage"
            " WHERE v.seq > ? AND v.model = ? ORDER BY v.seq",
            (self._newest, self._model.name),
        )
        while found := cursor.fetchmany(LOAD_BATCH_SIZE):
            rows = [row for row in found if len(row[4]) == self._size]
            self._has_mismatched = self._has_mismatched or len(rows) < len(found)
            if rows:
                index.append(np.array([row[:4] for row in rows], np.int64), _matrix([row[4] for row in rows]))

    def _alive(self, connection: sqlite3.Connection) -> "NDArray[np.int64]":
        import numpy as np

        rows: list[Any] = connection.execute(
            "SELECT seq FROM vectors INDEXED BY vectors_by_model WHERE model = ?", (self._model.name,)
        ).fetchall()
        return np.array(rows, np.int64).reshape(-1)


def _matrix(blobs: Sequence[bytes]) -> "Vectors":
    import numpy as np

    rows = np.frombuffer(b"".join(blobs), np.float32)
    return rows.reshape(len(blobs), -1) if blobs else rows.reshape(0, 0)
