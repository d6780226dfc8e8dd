"""Cost of a durable save against its lower bound: the embedding, and the same rows in plain SQLite, one commit each."""

import sqlite3
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.corpus import notes
from bench.figure import Figure
from bench.table import table
from chie.knowledge.embedding.cached import CachedEmbedder
from chie.knowledge.embedding.onnx import OnnxEmbedder
from chie.knowledge.search.passages import split
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore

COUNT = 400
BATCH = 40
MODEL, PLAIN, CHIE = "embedding alone", "plain SQLite inserts alone", "Chie"


def rows(database: Path, after: int) -> list[Any]:
    """What the saves after this many notes have stored, one row a note."""
    with sqlite3.connect(database) as source:
        return source.execute(
            "SELECT n.id, n.title, n.content, v.vector, w.tokens FROM notes n JOIN passages p ON p.note = n.seq"
            " JOIN vectors v ON v.passage = p.id JOIN words w ON w.rowid = p.id WHERE n.seq > ? GROUP BY n.seq",
            (after,),
        ).fetchall()


def plain_database(path: Path) -> sqlite3.Connection:
    """One durable transaction per row, without our indexes."""
    plain = sqlite3.connect(path, isolation_level=None)
    plain.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")
    plain.execute("CREATE TABLE notes (id TEXT PRIMARY KEY, title TEXT, content TEXT, vector BLOB, tokens TEXT)")
    return plain


def timed(work: Callable[[Any], object], things: Sequence[Any]) -> tuple[float, float]:
    """Seconds, and CPU seconds."""
    start, cpu = time.perf_counter(), time.process_time()
    for thing in things:
        work(thing)
    return time.perf_counter() - start, time.process_time() - cpu


def batches(home: Path) -> Iterator[dict[str, tuple[float, float]]]:
    """Alternately, so that load affects all of them. Each save searches for similar notes first."""
    texts = [note.content for note in notes(COUNT)]
    model = OnnxEmbedder()
    service = KnowledgeService(SqliteStore(home / "chie.db", CachedEmbedder(model)))
    service.save("warm up")
    plain = plain_database(home / "plain.db")
    for start in range(0, COUNT, BATCH):
        batch = texts[start : start + BATCH]
        ours = timed(service.save, batch)
        stored = rows(home / "chie.db", 1 + start)
        inserts = timed(lambda row: plain.execute("INSERT INTO notes VALUES (?, ?, ?, ?, ?)", row), stored)
        yield {CHIE: ours, PLAIN: inserts, MODEL: timed(lambda text: model.embed([text]), batch)}
    service.store.close()
    plain.close()


def main() -> list[Figure]:
    example = next(notes(1))
    assert [passage.text for passage in split(example)] == [example.content]  # one embedding per note
    seconds: dict[str, float] = defaultdict(float)
    cpu: dict[str, float] = defaultdict(float)
    with tempfile.TemporaryDirectory() as folder:
        for batch in batches(Path(folder)):
            for who, (elapsed, used) in batch.items():
                seconds[who] += elapsed
                cpu[who] += used
    return [
        *(Figure("durable saves a second", who, COUNT / seconds[who]) for who in (MODEL, PLAIN, CHIE)),
        Figure(
            "durable save, ratio to embedding and plain inserts together",
            CHIE,
            seconds[CHIE] / (seconds[MODEL] + seconds[PLAIN]),
            "×",
            1.15,
        ),
        *(Figure("durable save, CPU", who, 1000 * cpu[who] / COUNT, "ms") for who in (MODEL, PLAIN, CHIE)),
        Figure("durable save, CPU, ratio to both together", CHIE, cpu[CHIE] / (cpu[MODEL] + cpu[PLAIN]), "×", 1.15),
    ]


if __name__ == "__main__":
    print(table(main()))
