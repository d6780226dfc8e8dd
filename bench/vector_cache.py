"""An embedder that keeps its vectors in a file, so that a second run does not pay for a hundred thousand of them."""

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chie.knowledge.embedding.base import Embedder

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors

BATCH = 500


class CachedEmbedder(Embedder):
    """Vectors by the hash of model and text; float32, as the model returns them."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        folder.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(folder / "vectors.db", timeout=60, check_same_thread=False)
        self._file.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    @property
    def id(self) -> str:
        return self._embedder.id

    def embed(self, texts: Sequence[str]) -> "Vectors":
        return np.vstack([self._batch(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)])

    def _batch(self, texts: Sequence[str]) -> "Vectors":
        keys = [self._key(text) for text in texts]
        found = self._stored(keys)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if new:
            vectors = self._embedder.embed(list(new.values()))
            found |= {key: vector.tobytes() for key, vector in zip(new, vectors, strict=True)}
            with self._file:
                self._file.executemany(
                    "INSERT OR IGNORE INTO vectors VALUES (?, ?)", [(key, found[key]) for key in new]
                )
        return np.vstack([np.frombuffer(found[key], np.float32) for key in keys])

    def _stored(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        found = (self._file.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone() for key in keys)
        return {key: row[0] for key, row in zip(keys, found, strict=True) if row}

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.id}\0{text}".encode()).digest()[:16]
