"""Generates any number of notes that read like developers' notes from the sentences of the labelled set."""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.retrieval import cases
from chie.knowledge.embedding.base import Embedder
from chie.knowledge.embedding.onnx import OnnxEmbedder
from chie.knowledge.note import Note
from chie.knowledge.search.passages import split
from chie.knowledge.store.sql_store import EmbeddingModel
from chie.knowledge.store.sqlite import note_table
from chie.knowledge.store.sqlite.file import SqliteFile
from chie.knowledge.store.sqlite.vectors import SqliteVectors

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors

BATCH = 2000


class StandIn(Embedder):
    """Cheap vectors under the real model's name, as dense as the real ones: two sentences and noise."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(7)
        self._model = OnnxEmbedder()

    @property
    def id(self) -> str:
        return self._model.id

    @cached_property
    def _sentences(self) -> "Vectors":
        return self._model.embed(sentences())

    def embed(self, texts: Sequence[str]) -> "Vectors":
        one, other = (self._random.choice(self._sentences, len(texts)) for _ in range(2))
        noise = self._random.standard_normal(one.shape, np.float32) / np.sqrt(one.shape[1])
        vectors: Vectors = (one + 0.7 * other + 0.5 * noise).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


def sentences() -> list[str]:
    return [part for note in cases()[0][:60] for part in note.replace("。", "。\n").replace(". ", ".\n").splitlines()]


def notes(count: int) -> Iterator[Note]:
    parts = sentences()
    words = [word for part in parts for word in part.split()]
    pick = random.Random(7)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(count):
        text = " ".join([*pick.choices(parts, k=2), *pick.choices(words, k=8), f"case-{number}"])[:240]
        yield Note(id=f"k-{number}", title=text[:30], content=text, created_at=moment, updated_at=moment)


def fill(path: Path, count: int) -> None:
    """Inserts the rows that single saves would, in large transactions."""
    file, vectors = SqliteFile(path), SqliteVectors(EmbeddingModel(StandIn()))
    batch: list[Note] = []
    for note in notes(count):
        batch.append(note)
        if len(batch) == BATCH:
            _write(file, vectors, batch)
            batch.clear()
    _write(file, vectors, batch)
    file.close()


def _write(file: SqliteFile, vectors: SqliteVectors, batch: Sequence[Note]) -> None:
    with file.write() as connection:
        for note in batch:
            passages = split(note)
            ids = note_table.insert(connection, note, passages, replacing=None)
            vectors.insert(connection, ids, vectors.embed([passage.text for passage in passages]))
