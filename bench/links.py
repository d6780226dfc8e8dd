"""Links between 10,000 notes: by the table of links, and by a scan of all texts in the same run."""

import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bench.corpus import StandIn, notes
from bench.figure import Figure
from chie.knowledge.links.links import Links
from chie.knowledge.links.text import renamed, same_title, titles_in
from chie.knowledge.note import Note
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sqlite.note_table import COLUMNS, note_of
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.knowledge.viewer import ANYBODY

NOTES = 10_000
HUBS = 50  # notes that others link to
LINKING = 20  # notes that link to each hub
ROUNDS = 10
TABLE, SCAN = "table of links", "scan of all texts"


def linked_notes() -> list[Note]:
    """Every note links to another one; the first ones are linked to more often."""
    plain = [replace(note, title=re.sub(r"[^\w ]", "", note.title) + note.id) for note in notes(NOTES)]

    def target(number: int) -> str:
        return plain[number // LINKING if number // LINKING < HUBS else number - 1].title

    return [replace(note, content=f"{note.content}\n\n[[{target(number)}]]") for number, note in enumerate(plain)]


def mentioning(store: SqliteStore, title: str) -> list[Note]:
    """What links to a title, without a table of links."""
    with store._file.read() as connection:  # noqa: SLF001
        found = connection.execute(
            f"SELECT {COLUMNS} FROM notes WHERE instr(lower(content), ?)",  # noqa: S608
            (f"[[{title}".lower(),),
        )
        read = [note_of(row) for row in found]
    return [note for note in read if any(same_title(one, title) for one in titles_in(note.content))]


def rename_by_scan(service: KnowledgeService, note_id: str, title: str) -> None:
    """Note by note, in a transaction each."""
    store, stored = service.store, service.get(note_id)
    assert isinstance(store, SqliteStore)
    store.save(replace(stored, title=title), replacing=stored)
    for other in mentioning(store, stored.title):
        store.save(replace(other, content=renamed(other.content, stored.title, title)), replacing=other)


def cpu_seconds(work: Callable[[str], object], ids: list[str]) -> float:
    start = time.process_time()
    for one in ids:
        work(one)
    return (time.process_time() - start) / len(ids)


def main() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        store = SqliteStore(Path(name) / "chie.db", StandIn())
        service, links = KnowledgeService(store), Links(KnowledgeService(store))
        linked = linked_notes()
        for start in range(0, NOTES, 1_000):
            store.put_copies(linked[start : start + 1_000])
        hubs = [note.id for note in linked[:HUBS]]
        assert len(links.of(hubs[5]).backlinks) == LINKING
        assert len(mentioning(store, linked[5].title)) == LINKING
        titles = {note.id: note.title for note in linked[:HUBS]}
        backlinks = cpu_seconds(links.of, hubs)
        scanned = cpu_seconds(lambda one: mentioning(store, titles[one]), hubs[:ROUNDS])
        rename = cpu_seconds(lambda one: service.update(one, title=f"new {one}"), hubs[:ROUNDS])
        rename_scanned = cpu_seconds(lambda one: rename_by_scan(service, one, f"new {one}"), hubs[ROUNDS : 2 * ROUNDS])
        assert len(links.of(hubs[5]).backlinks) == len(links.of(hubs[15]).backlinks) == LINKING
        assert len(store.link_rows(viewer=ANYBODY, limit=2 * NOTES)) == NOTES
        store.close()
    return [
        Figure("backlinks of a note among 10,000, CPU", TABLE, backlinks * 1_000, "ms"),
        Figure("backlinks of a note among 10,000, CPU", SCAN, scanned * 1_000, "ms"),
        Figure("backlinks, ratio to the scan", TABLE, backlinks / scanned, "", 0.1),
        Figure("rename of a note that 20 others link to, CPU", TABLE, rename * 1_000, "ms"),
        Figure("rename of a note that 20 others link to, CPU", SCAN, rename_scanned * 1_000, "ms"),
        Figure("rename, ratio to the scan", TABLE, rename / rename_scanned, "", 1.0),
    ]
