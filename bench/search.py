"""Latency of a search as the store grows, against a bare numpy product over the same vectors.

Embedding the query with the real model and the stdio round trip are included. On an idle machine numpy uses all cores
for its product, a search one.
"""

import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.corpus import fill
from bench.figure import Figure
from bench.retrieval import cases
from bench.stdio import Server
from bench.table import SHARE, table
from chie.knowledge.embedding.onnx import OnnxEmbedder
from chie.knowledge.store.sqlite.vector_index import VectorIndex

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors

SIZES = (1_000, 10_000, 100_000)
SCANS = 30
QUERIES = [text for _, text, _ in cases()[1]][:60]
NUMPY, CHIE = "bare numpy scan", "Chie"


def stored(path: Path) -> "Vectors":
    with sqlite3.connect(path) as database:
        blobs = [row[0] for row in database.execute("SELECT vector FROM vectors ORDER BY seq")]
    return np.frombuffer(b"".join(blobs), np.float32).reshape(len(blobs), -1)


def bare_scan(matrix: "Vectors") -> "Callable[[], object]":
    """The lower bound of an exact search: one product over all vectors, and the ten best."""
    query = matrix[0]
    return lambda: np.argpartition(matrix @ query, -10)[-10:]


def found(matrix: "Vectors") -> float:
    """Recall of our index for the ten nearest of each query."""
    index = VectorIndex(matrix.shape[1])
    numbers = np.arange(len(matrix))
    index.append(np.stack([numbers] * 4, axis=1), matrix)
    shares = []
    for query in OnnxEmbedder().embed(QUERIES):
        exact = set(np.argsort(-(matrix @ query))[:10].tolist())
        near = index.nearest(query, 50)  # as many as a search rescores
        shares.append(len(exact.intersection(near)) / len(exact))
    return statistics.mean(shares)


def median_ms(work: Callable[[], object], count: int) -> float:
    times = []
    for _ in range(count):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


def ask(server: Server, queries: Iterator[str]) -> None:
    server.call("search_knowledge", query=next(queries))


def scanned(matrix: "Vectors") -> tuple[float, float]:
    """Milliseconds and CPU milliseconds of a scan."""
    work = bare_scan(matrix)
    work()
    began = time.process_time()
    return median_ms(work, SCANS), 1000 * (time.process_time() - began) / SCANS


def searched(home: str) -> tuple[float, float, float]:
    """Milliseconds and CPU milliseconds of a search, and the server's memory after them."""
    with Server([Path(sys.executable).parent / "knowledge-gateway"], CHIE_HOME=home) as server:
        server.call("search_knowledge", query="warm up")
        before = server.cpu()
        ms = median_ms(partial(ask, server, iter(QUERIES)), len(QUERIES))
        return ms, 1000 * (server.cpu() - before) / len(QUERIES), server.rss()


def figures(size: int) -> Iterator[Figure]:
    largest = size == SIZES[-1]
    with tempfile.TemporaryDirectory() as home:
        fill(Path(home) / "chie.db", size)
        matrix = stored(Path(home) / "chie.db")
        scan, scan_cpu = scanned(matrix)
        ms, cpu, memory = searched(home)
    notes = f"{size:,} notes"
    yield from (Figure(f"{notes}, a search", NUMPY, scan, "ms"), Figure(f"{notes}, a search", CHIE, ms, "ms"))
    yield Figure(f"{notes}, a search, ratio", CHIE, ms / scan, "×", 2 if largest else None)
    yield from (Figure(f"{notes}, CPU", NUMPY, scan_cpu, "ms"), Figure(f"{notes}, CPU", CHIE, cpu, "ms"))
    yield Figure(f"{notes}, CPU, ratio", CHIE, cpu / scan_cpu, "×", 2 if largest else None)
    yield Figure(f"{notes}, the server's memory", CHIE, memory, "MB", 300 if largest else None)
    yield Figure(f"{notes}, the ten nearest that are found", CHIE, found(matrix), SHARE, 0.995)


def main() -> list[Figure]:
    return [figure for size in SIZES for figure in figures(size)]


if __name__ == "__main__":
    print(table(main()))
