"""Latency and recall of searches in SQLite and in PostgreSQL as the store grows.

Both stores hold the same notes with the same vectors: mixtures of the built-in model's vectors of real sentences,
so that they are distributed like those of notes. Queries are real questions, embedded in advance, which costs the same
in both.
"""

import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from bench.corpus import notes
from bench.figure import Figure
from bench.retrieval import cases
from bench.table import SHARE
from chie.knowledge.embedding.base import Embedder
from chie.knowledge.embedding.onnx import OnnxEmbedder
from chie.knowledge.note import Note
from chie.knowledge.store.base import NoteStore
from chie.knowledge.store.postgres import backfill, nearest
from chie.knowledge.store.postgres import statistics as corpus
from chie.knowledge.store.postgres.passage_filter import PassageFilter
from chie.knowledge.store.postgres.store import PostgresStore
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.knowledge.viewer import Viewer

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors

SQLITE, POSTGRES = "SQLite", "PostgreSQL"
SIZES = (10_000, 100_000)
QUERIES = [text for _, text, _ in cases()[1]][:60]
BATCH = 500
SEMANTIC_CANDIDATES = 50  # notes that a search takes by meaning
NOISE = 0.3  # share of a vector that is unique to its note
_WORD = re.compile(r"\S+")


class Mixture(Embedder):
    """Mixes the vectors of a text's sentences and words, weighted by length, with noise. It is fast, and HNSW has the
    same recall as with the model's own vectors."""

    def __init__(self) -> None:
        self._model = OnnxEmbedder()
        self._known = {text: self._model.embed([text])[0] for text in QUERIES}
        self._sentences: dict[str, list[str]] = {}
        for note in cases()[0]:
            for sentence in note.replace("。", "。\n").replace(". ", ".\n").splitlines():
                self._sentences.setdefault(sentence[:4], []).append(sentence)
        self._words = {word for note in cases()[0] for word in note.split()}

    @property
    def id(self) -> str:
        return f"{self._model.id}-mixture"

    def embed(self, texts: Sequence[str]) -> "Vectors":
        return np.stack([self._known[text] if text in self._known else self._mixed(text) for text in texts])

    def _mixed(self, text: str) -> "Vectors":
        noise = np.random.default_rng(crc32(text.encode())).standard_normal(384, np.float32)
        row = np.asarray(NOISE * noise / np.linalg.norm(noise), np.float32)
        for part in self._parts(text):
            row += len(part) / len(text) * self._part(part)
        return np.asarray(row / np.linalg.norm(row), np.float32)

    def _parts(self, text: str) -> Iterator[str]:
        """Sentences if they are complete, else words."""
        at = 0
        while match := _WORD.search(text, at):
            start = match.start()
            whole = [part for part in self._sentences.get(text[start : start + 4], ()) if text.startswith(part, start)]
            part = max(whole, key=len, default=match.group())
            at = start + len(part)
            if whole or part in self._words:
                yield part

    def _part(self, part: str) -> "Vectors":
        if part not in self._known:
            self._known[part] = self._model.embed([part])[0]
        vector: Vectors = self._known[part]
        return vector


def batches(count: int) -> Iterator[list[Note]]:
    every = notes(count)
    while batch := list(islice(every, BATCH)):
        yield batch


def fill(stores: Sequence[NoteStore], count: int) -> None:
    for batch in batches(count):
        for store in stores:
            store.put_copies(batch)


def times(store: NoteStore, **how: Any) -> list[float]:
    """Milliseconds of each query, sorted; each query runs once before, as a warm-up."""
    spent = []
    for query in QUERIES:
        store.search(query, limit=10, tags=(), **how)
    for query in QUERIES:
        start = time.perf_counter()
        store.search(query, limit=10, tags=(), **how)
        spent.append(1000 * (time.perf_counter() - start))
    return sorted(spent)


def recall(store: PostgresStore, embedder: Embedder) -> tuple[float, float]:
    """Of the fifty nearest notes, and of the ten that a search shows: the share that an exact scan finds too."""
    shares, shown = [], []
    for query in QUERIES:
        vector = embedder.embed([query])[0]
        proposed, exact = (set(_nearest(store, vector, indexed=indexed)) for indexed in (True, False))
        shares.append(len(proposed & exact) / len(exact))
        shown.append(_shown(store, query))
    return statistics.mean(shares), statistics.mean(shown)


def _nearest(store: PostgresStore, vector: "Vectors", *, indexed: bool) -> list[int]:
    def work(connection: Any) -> list[int]:
        now = corpus.read(connection, store._vectors.model, None)  # noqa: SLF001
        scan = nearest.first_scan(now, len(vector), PassageFilter([], Viewer("")), SEMANTIC_CANDIDATES, few=not indexed)
        return [passage for passage, _ in nearest.nearest(connection, scan, vector)]

    return store._pool.read(work, settings=nearest.SEARCH_SETTINGS)  # noqa: SLF001


def _shown(store: PostgresStore, query: str) -> float:
    proposed = {hit.id for hit in store.search(query, limit=10, tags=()).hits}
    look = nearest.are_few
    nearest.are_few = lambda matches: not matches
    try:
        exact = {hit.id for hit in store.search(query, limit=10, tags=()).hits}
    finally:
        nearest.are_few = look
    return len(proposed & exact) / len(exact) if exact else 1.0


def quantile(spent: Sequence[float], share: float) -> float:
    return spent[min(int(share * len(spent)), len(spent) - 1)]


def main() -> list[Figure]:
    from tests.fakes.postgres import new_database, postgres_url, run_server

    sizes = [int(word) for word in sys.argv[1:] if word.isdigit()] or SIZES
    embedder = Mixture()
    found: list[Figure] = []
    for url in run_server():
        for size in sizes:
            with tempfile.TemporaryDirectory() as folder:
                ours = SqliteStore(Path(folder) / "chie.db", embedder)
                theirs = PostgresStore(postgres_url(new_database(url)), embedder)
                found += compare(ours, theirs, embedder, size)
                ours.close()
                theirs.close()
    print(f"Below {backfill.MIN_INDEXED_VECTORS:,} passages PostgreSQL scans all vectors and misses nothing.\n")
    return found


def compare(ours: SqliteStore, theirs: PostgresStore, embedder: Mixture, size: int) -> list[Figure]:
    fill([ours, theirs], size)
    start = time.perf_counter()
    theirs.finish_background_work()
    built = time.perf_counter() - start
    sqlite, postgres = times(ours), times(theirs)
    near, hits = recall(theirs, embedder)
    notes = f"{size:,} notes"
    return [
        *(
            Figure(f"{notes}, a search, p{share:.0%}".replace("%", ""), who, quantile(taken, share), "ms")
            for share in (0.5, 0.95)
            for who, taken in ((SQLITE, sqlite), (POSTGRES, postgres))
        ),
        Figure(f"{notes}, ratio of the medians", POSTGRES, quantile(postgres, 0.5) / quantile(sqlite, 0.5), "×"),
        Figure(f"{notes}, the 50 nearest that are found", POSTGRES, near, SHARE, aim=0.99),
        Figure(f"{notes}, the 10 hits that are found", POSTGRES, hits, SHARE, aim=0.99),
        Figure(f"{notes}, index built in", POSTGRES, built, "s"),
    ]


if __name__ == "__main__":
    main()
