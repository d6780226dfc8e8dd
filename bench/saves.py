"""Cost of a durable save against its lower bound: the embedding, and the same rows in plain SQLite, one commit each."""

import sqlite3
import tempfile
import time
from pathlib import Path

from bench.corpus import notes
from bench.figure import Figure
from bench.table import table
from chie.knowledge.embedding.cached import CachedEmbedder
from chie.knowledge.embedding.onnx import OnnxEmbedder
from chie.knowledge.passages import split
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore

COUNT = 400


def embedding_alone(embedder: OnnxEmbedder, texts: list[str]) -> float:
    start = time.perf_counter()
    for text in texts:
        embedder.embed([text])
    return time.perf_counter() - start


def plain_inserts(database: Path, home: Path) -> float:
    """Writes the same rows again: one durable transaction per note, without our indexes."""
    with sqlite3.connect(database) as source:
        rows = source.execute(
            "SELECT n.id, n.title, n.content, v.vector, w.tokens FROM notes n JOIN passages p ON p.note = n.seq"
            " JOIN vectors v ON v.passage = p.id JOIN words w ON w.rowid = p.id GROUP BY n.seq"
        ).fetchall()
    target = sqlite3.connect(home / "plain.db", isolation_level=None)
    target.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")
    target.execute("CREATE TABLE notes (id TEXT PRIMARY KEY, title TEXT, content TEXT, vector BLOB, tokens TEXT)")
    start = time.perf_counter()
    for row in rows:
        target.execute("INSERT INTO notes VALUES (?, ?, ?, ?, ?)", row)
    return time.perf_counter() - start


def main() -> list[Figure]:
    """One durable transaction per note, with the search for similar notes before each save."""
    texts = [note.content for note in notes(COUNT)]
    embedder = OnnxEmbedder()
    embedder.embed(["warm up"])
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        service = KnowledgeService(SqliteStore(home / "chie.db", CachedEmbedder(embedder)))
        service.save("warm up")
        start = time.perf_counter()
        for text in texts:
            service.save(text)
        ours = time.perf_counter() - start
        plain = plain_inserts(home / "chie.db", home)
    example = next(notes(1))
    assert [passage.text for passage in split(example)] == [example.content]  # one embedding per note
    alone = embedding_alone(embedder, texts)
    rates = {"embedding alone": alone, "plain SQLite inserts alone": plain, "Chie": ours}
    return [
        *(Figure("durable saves a second", who, COUNT / seconds) for who, seconds in rates.items()),
        Figure("durable save, ratio to embedding and plain inserts together", "Chie", ours / (alone + plain), "×"),
    ]


if __name__ == "__main__":
    print(table(main()))
