"""CPU of a search among 10,000 notes in five spaces: by a user who reads two of them, and by one who reads all."""

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

from bench.corpus import StandIn, notes
from bench.figure import Figure
from chie.knowledge.spaces.space import Space
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.knowledge.viewer import Viewer

NOTES = 10_000
SPACES = ("team", "ops", "db", "web", "data")
ROUNDS, QUERIES = 12, 20


def main() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        store = SqliteStore(Path(name) / "chie.db", StandIn())
        for space in SPACES[1:]:
            store.spaces.save(Space(name=space))
        found = [replace(note, space=SPACES[number % len(SPACES)]) for number, note in enumerate(notes(NOTES))]
        for start in range(0, NOTES, 1_000):
            store.put_copies(found[start : start + 1_000])
        queries = [note.content[:60] for note in found[: QUERIES * 7 : 7]]
        viewers = {
            "all five": Viewer("aki", frozenset(SPACES)),
            "two of them": Viewer("aki", frozenset(SPACES[:2])),
            "two, without team": Viewer("aki", frozenset(SPACES[1:3])),
        }
        seconds: dict[str, list[float]] = {who: [] for who in viewers}
        for turn in range(ROUNDS + 1):
            for who, viewer in viewers.items():
                start_time = time.process_time()
                for query in queries:
                    assert store.search(query, limit=10, viewer=viewer).hits
                if turn:  # the first one fills caches
                    seconds[who].append((time.process_time() - start_time) / len(queries))
        store.close()
    cost = {who: median(values) for who, values in seconds.items()}
    return [
        *(
            Figure("search among 10,000 notes in five spaces, CPU", who, value * 1_000, "ms")
            for who, value in cost.items()
        ),
        *(
            Figure("search, ratio to one in all spaces", who, value / cost["all five"], "", 1.15)
            for who, value in cost.items()
            if who != "all five"
        ),
    ]
