"""Storage of versions: 10,000 notes that were each edited ten times, against the same texts in a plain SQLite table."""

import random
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from bench.corpus import notes
from bench.figure import Figure
from chie.knowledge.history.versions import Change
from chie.knowledge.note import Note
from chie.knowledge.store.sqlite.file import SqliteFile
from chie.knowledge.store.sqlite.tables import VERSIONS

NOTES, EDITS = 10_000, 10
PARAGRAPHS = 4


def originals() -> Iterator[Note]:
    """Notes of about a thousand characters."""
    parts = [note.content for note in notes(2_000)]
    pick = random.Random(11)
    for note in notes(NOTES):
        text = "\n\n".join([note.content, *pick.choices(parts, k=PARAGRAPHS - 1)])
        yield replace(note, content=text)


def edits(note: Note) -> Iterator[Note]:
    """Each replaces a few words, or adds a sentence."""
    pick = random.Random(note.id)
    for number in range(1, EDITS + 1):
        words = note.content.split(" ")
        at = pick.randrange(len(words))
        words[at : at + pick.randrange(3)] = [f"edited-{number}", *pick.choices(words, k=pick.choice((2, 2, 12)))]
        note = replace(note, content=" ".join(words), updated_at=note.updated_at + timedelta(days=1))
        yield note


def size(path: Path) -> int:
    with sqlite3.connect(path) as database:
        database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return path.stat().st_size


def versions_size(folder: Path) -> int:
    file = SqliteFile(folder / "chie.db")
    with file.write():
        pass
    empty = size(folder / "chie.db")
    with file.write() as connection:
        for note in originals():
            before = note
            for after in edits(note):
                VERSIONS.replace(connection, before, after, Change(by="aki", at=after.updated_at))
                before = after
    file.close()
    return size(folder / "chie.db") - empty


def plain_size(path: Path, *, every_version: bool) -> int:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE notes (id TEXT, title TEXT, content TEXT, changed_at TEXT, changed_by TEXT)")
        for note in originals():
            chosen = [note, *edits(note)][:-1] if every_version else [note]
            rows = [(one.id, one.title, one.content, one.updated_at.isoformat(), "aki") for one in chosen]
            database.executemany("INSERT INTO notes VALUES (?, ?, ?, ?, ?)", rows)
    database.close()
    return size(path)


def main() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = versions_size(folder)
        once = plain_size(folder / "once.db", every_version=False)
        copies = plain_size(folder / "copies.db", every_version=True)
    return [
        Figure("versions of 10,000 notes edited ten times", "Chie", ours / 2**20, "MB"),
        Figure("versions of 10,000 notes edited ten times", "the notes once, plain", once / 2**20, "MB"),
        Figure("versions of 10,000 notes edited ten times", "ten plain copies", copies / 2**20, "MB"),
        Figure("versions in proportion to the notes", "Chie", ours / once),
        Figure("versions in proportion to ten plain copies", "Chie", ours / copies, "", 0.5),
    ]
