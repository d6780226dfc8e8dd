"""Latency of a search as the store grows, against a bare numpy product over the same vectors.

Embedding the query with the real model and the stdio round trip are included. On an idle machine numpy uses all cores
for its product, a search one. The last columns are what no search over MCP can do without: the model for the query, and
a tool call that does nothing.
"""

import sqlite3
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bench.corpus import fill
from bench.figure import Figure
from bench.retrieval import cases
from bench.startup import EMPTY
from bench.stdio import Server
from bench.table import SHARE, table
from chie.knowledge.embedding.onnx import OnnxEmbedder
from chie.knowledge.store.sqlite.vector_index import VectorIndex

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors

SIZES = (1_000, 10_000, 100_000)
QUERIES = [text for _, text, _ in cases()[1]][:120]  # each once, because the server caches their vectors
BATCH = 20
NUMPY, CHIE, MODEL, CALL = "bare numpy scan", "Chie", "embedding alone", "a FastMCP tool that does nothing"


class Contender(NamedTuple):
    work: Callable[[str], object]
    cpu: Callable[[], float]  # seconds so far


def stored(path: Path) -> "Vectors":
    with sqlite3.connect(path) as database:
        blobs = [row[0] for row in database.execute("SELECT vector FROM vectors ORDER BY seq")]
    return np.frombuffer(b"".join(blobs), np.float32).reshape(len(blobs), -1)


def bare_scan(matrix: "Vectors") -> "Callable[[str], object]":
    """The lower bound of an exact search: one product over all vectors, and the ten best."""
    query = matrix[0]
    return lambda _: np.argpartition(matrix @ query, -10)[-10:]


def found(matrix: "Vectors") -> float:
    """Recall of our index for the ten nearest of each query."""
    index = VectorIndex(matrix.shape[1])
    index.append(np.stack([np.arange(len(matrix))] * 4, axis=1), matrix)
    shares = []
    for query in OnnxEmbedder().embed(QUERIES):
        exact = set(np.argsort(-(matrix @ query))[:10].tolist())
        near = index.nearest(query, 50)  # as many as a search rescores
        shares.append(len(exact.intersection(near)) / len(exact))
    return statistics.mean(shares)


def costs(contenders: dict[str, Contender]) -> tuple[dict[str, float], dict[str, float]]:
    """Median milliseconds and mean CPU milliseconds of each, taken alternately, so that load affects all of them."""
    times: dict[str, list[float]] = defaultdict(list)
    cpu: dict[str, float] = defaultdict(float)
    for contender in contenders.values():
        contender.work("warm up")
    for start in range(0, len(QUERIES), BATCH):
        for who, contender in contenders.items():
            before = contender.cpu()
            for query in QUERIES[start : start + BATCH]:
                began = time.perf_counter()
                contender.work(query)
                times[who].append(time.perf_counter() - began)
            cpu[who] += contender.cpu() - before
    return (
        {who: 1000 * statistics.median(values) for who, values in times.items()},
        {who: 1000 * seconds / len(QUERIES) for who, seconds in cpu.items()},
    )


def measured(home: str, matrix: "Vectors") -> tuple[dict[str, float], dict[str, float], float]:
    """As `costs`, and the server's memory after the searches."""
    empty = Path(home) / "empty.py"
    empty.write_text(EMPTY)
    model = OnnxEmbedder()
    with ExitStack() as stack:
        ours = stack.enter_context(Server([Path(sys.executable).parent / "knowledge-gateway"], CHIE_HOME=home))
        nothing = stack.enter_context(Server([sys.executable, empty]))
        contenders = {
            CHIE: Contender(lambda query: ours.call("search_knowledge", query=query), ours.cpu),
            CALL: Contender(lambda _: nothing.call("nothing"), nothing.cpu),
            MODEL: Contender(lambda query: model.embed([query]), time.thread_time),
            NUMPY: Contender(bare_scan(matrix), time.process_time),
        }
        return *costs(contenders), ours.rss()


def figures(size: int) -> Iterator[Figure]:
    smallest, largest = size == SIZES[0], size == SIZES[-1]
    with tempfile.TemporaryDirectory() as home:
        fill(Path(home) / "chie.db", size)
        matrix = stored(Path(home) / "chie.db")
        ms, cpu, memory = measured(home, matrix)
    notes = f"{size:,} notes"
    columns = (NUMPY, CHIE, MODEL, CALL) if smallest else (NUMPY, CHIE)
    yield from (Figure(f"{notes}, a search", who, ms[who], "ms") for who in columns)
    yield Figure(f"{notes}, a search, ratio", CHIE, ms[CHIE] / ms[NUMPY], "×", 1.5 if largest else None)
    yield from (Figure(f"{notes}, CPU", who, cpu[who], "ms") for who in columns)
    if smallest:
        floor = cpu[MODEL] + 2 * cpu[CALL]
        yield Figure(f"{notes}, CPU, ratio to embedding and two empty calls", CHIE, cpu[CHIE] / floor, "×", 1)
    else:
        yield Figure(f"{notes}, CPU, ratio", CHIE, cpu[CHIE] / cpu[NUMPY], "×", 1.5 if largest else None)
    yield Figure(f"{notes}, the server's memory", CHIE, memory, "MB", 300 if largest else None)
    yield Figure(f"{notes}, the ten nearest that are found", CHIE, found(matrix), SHARE, 0.995)


def main() -> list[Figure]:
    return [figure for size in SIZES for figure in figures(size)]


if __name__ == "__main__":
    print(table(main()))
