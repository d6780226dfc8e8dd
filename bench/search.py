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
SCANS = 30
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
    print("Milliseconds of a `search_knowledge` call over stdio, reading the query with the real model included.")
    print("On an idle machine numpy takes all cores for its product, a search one: compare the processor's time.\n")
    print("| notes | numpy scan | its CPU | search | its CPU | ratio | ratio of CPU | server's memory, MB |")
    print("|---" * 8 + "|")
    for size in SIZES:
        with tempfile.TemporaryDirectory() as home:
            fill(Path(home) / "chie.db", size)
            work, began = bare_scan(Path(home) / "chie.db"), time.process_time()
            scan = median_ms(work, SCANS)
            scan_cpu = 1000 * (time.process_time() - began) / SCANS
            with Server([Path(sys.executable).parent / "knowledge-gateway"], CHIE_HOME=home) as server:
                server.call("search_knowledge", query="warm up")
                before = server.cpu()
                ours = median_ms(partial(ask, server, iter(QUERIES)), len(QUERIES))
                cpu = 1000 * (server.cpu() - before) / len(QUERIES)
                print(
                    f"| {size:,} | {scan:.1f} | {scan_cpu:.1f} | {ours:.1f} | {cpu:.1f} | {ours / scan:.2f} "
                    f"| {cpu / scan_cpu:.2f} | {server.rss():.0f} |"
                )
    print("\nAims at 100,000: ratio ≤ 2, memory ≤ 300 MB.")


if __name__ == "__main__":
    main()
