"""Fake embedders: fast, and failing on demand."""

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from chie.knowledge.embedding.base import Embedder, EmbeddingError
from chie.knowledge.search.tokens import tokens

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors


class HashingEmbedder(Embedder):
    """Sums a random vector per token, so texts with common words are close; `version` identifies the model."""

    def __init__(self, version: str = "1", dimension: int = 64) -> None:
        self._version = version
        self._dimension = dimension

    @property
    def id(self) -> str:
        return f"hashing-{self._version}"

    def embed(self, texts: Sequence[str]) -> "Vectors":
        rows = np.array([self._row(text) for text in texts], np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    def _row(self, text: str) -> "Vectors":
        row = np.full(self._dimension, 1e-3, np.float32)
        for token in tokens(text):
            row += _vector(self._version, token, self._dimension)
        return row


@cache
def _vector(version: str, token: str, dimension: int) -> "Vectors":
    seed = int.from_bytes(hashlib.sha256(f"{version}{token}".encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)


class FailableEmbedder(HashingEmbedder):
    """Fails for as long as `failing` is set."""

    def __init__(self, version: str = "1") -> None:
        super().__init__(version)
        self.failing = False

    def embed(self, texts: Sequence[str]) -> "Vectors":
        if self.failing:
            raise EmbeddingError("embedding.model_load_failed")
        return super().embed(texts)
