"""How long a search takes as the store grows, against a bare numpy product over the same vectors."""

import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from bench.corpus import fill
from bench.retrieval import cases
from bench.stdio import Server

SIZES = (1_000, 10_000, 100_000)
QUERIES = [text for _, text, _ in cases()[1]][:60]


def bare_scan(path: Path) -> Callable[[], object]:
    """What any exact search must at least do: one product over all vectors, and the ten best."""
    with sqlite3.connect(path) as database:
        blobs = [row[0] for row in database.execute("SELECT vector FROM vectors")]
    matrix = np.frombuffer(b"".join(blobs), np.float32).reshape(len(blobs), -1)
    query = matrix[0]
    return lambda: np.argpartition(matrix @ query, -10)[-10:]


def median_ms(work: Callable[[], object], count: int) -> float:
    times = []
    for _ in range(count):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


def ask(server: Server, queries: Iterator[str]) -> None:
    server.call("search_knowledge", query=next(queries))


def main() -> None:
    print(
        "Median milliseconds of a `search_knowledge` call over stdio, reading the query with the real model included.\n"
    )
    print(
        "| notes | bare numpy scan | search | ratio | CPU per search | server's memory, MB |\n|---|---|---|---|---|---|"
    )
    for size in SIZES:
        with tempfile.TemporaryDirectory() as home:
            fill(Path(home) / "chie.db", size)
            scan = median_ms(bare_scan(Path(home) / "chie.db"), 30)
            with Server([Path(sys.executable).parent / "knowledge-gateway"], CHIE_HOME=home) as server:
                server.call("search_knowledge", query="warm up")
                before = server.cpu()
                ours = median_ms(partial(ask, server, iter(QUERIES)), len(QUERIES))
                cpu = 1000 * (server.cpu() - before) / len(QUERIES)
                print(f"| {size:,} | {scan:.1f} | {ours:.1f} | {ours / scan:.2f} | {cpu:.1f} | {server.rss():.0f} |")
    print("\nAims: ratio ≤ 2 and memory ≤ 300 MB at 100,000.")


if __name__ == "__main__":
    main()
