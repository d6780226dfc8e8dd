"""Work of the review among 10,000 notes that were never compared: what one request does, and all of them together,
extrapolated from the first ones.
"""

import tempfile
import time
from pathlib import Path

from bench.corpus import StandIn, notes
from bench.figure import Figure
from chie.knowledge.embedding.onnx import OnnxEmbedder
from chie.knowledge.review.review import Review
from chie.knowledge.review.scan import Scan
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.review_records import ReviewRecords
from chie.knowledge.store.sqlite.store import SqliteStore

NOTES = 10_000
MEASURED = 150  # notes; before them as many that fill the cache of words
WHO = "Chie"


def main() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "chie.db"
        _fill(path)
        store = SqliteStore(path, OnnxEmbedder())  # the same model by name, so the stored vectors stay
        records = store.records
        assert isinstance(records, ReviewRecords)
        scan = Scan(store, records)
        _compare(scan, MEASURED)
        start, before = time.process_time(), len(scan.pending())
        _compare(scan, MEASURED)
        each = (time.process_time() - start) / (before - len(scan.pending()))
        review = Review(KnowledgeService(store))
        review.page(seconds=0)
        start = time.process_time()
        review.page(seconds=0)
        request = time.process_time() - start
        store.close()
    return [
        Figure("comparing one note among 10,000, CPU", WHO, each * 1_000, "ms"),
        Figure("comparing 10,000 notes for the first time, CPU", WHO, each * NOTES / 60, "min"),
        Figure("a request for the review that compares two notes, CPU", WHO, request * 1_000, "ms"),
    ]


def _fill(path: Path) -> None:
    store = SqliteStore(path, StandIn())
    found = list(notes(NOTES))
    for start in range(0, NOTES, 1_000):
        store.put_copies(found[start : start + 1_000])
    store.close()


def _compare(scan: Scan, count: int) -> None:
    left = len(scan.pending()) - count
    while len(scan.pending()) > left:
        scan.advance(5)


if __name__ == "__main__":
    from bench.table import table

    print(table(main()))
