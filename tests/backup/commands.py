"""Runs the commands, and reads the files they leave."""

import json
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from click.testing import CliRunner, Result
from tests.fakes.embedders import HashingEmbedder

from chie.cli import main
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.messages.catalogue import Message


def message(code: str, **params: str | int) -> str:
    return str(Message(code, **params))


def chie(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@contextmanager
def notes(home: Path) -> Iterator[KnowledgeService]:
    """A store that keeps the file open while other processes change it."""
    store = SqliteStore(home / "chie.db", HashingEmbedder())
    try:
        yield KnowledgeService(store)
    finally:
        store.close()


def titles(home: Path) -> set[str]:
    with closing(sqlite3.connect(home / "chie.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return {row[0] for row in database.execute("SELECT title FROM notes")}


def ids_in(archive: Path, tmp_path: Path) -> set[str]:
    with zipfile.ZipFile(archive) as opened:
        opened.extract("databases/chie.db", tmp_path / "opened")
    with closing(sqlite3.connect(tmp_path / "opened" / "databases" / "chie.db")) as database:
        return {row[0] for row in database.execute("SELECT id FROM notes")}


def change_manifest(archive: Path, **changes: object) -> None:
    """Rewrite the archive with a changed manifest."""
    with zipfile.ZipFile(archive) as opened:
        parts = {name: opened.read(name) for name in opened.namelist()}
    manifest = json.loads(parts["manifest.json"]) | changes
    with zipfile.ZipFile(archive, "w") as out:
        for name, data in parts.items():
            out.writestr(name, json.dumps(manifest) if name == "manifest.json" else data)


def downgrade(database: Path) -> None:
    """To the first schema."""
    with closing(sqlite3.connect(database)) as opened, opened:
        opened.execute("DROP TRIGGER passage_added")
        opened.execute("DROP TRIGGER passage_gone")
        opened.execute("DROP INDEX passages_by_owner")
        opened.execute("DROP TABLE corpus")
        opened.execute("DROP TABLE postings")
        opened.execute("DROP TABLE imports")
        opened.execute("ALTER TABLE passages DROP COLUMN owner")
        opened.execute("ALTER TABLE passages DROP COLUMN length")
        opened.execute(
            "CREATE TRIGGER passage_gone AFTER DELETE ON passages BEGIN DELETE FROM words WHERE rowid = old.id; END"
        )
        for index in ("hidden_notes", "notes_by_source", "proposals", "notes_by_index_version"):
            opened.execute(f"DROP INDEX {index}")
        opened.execute("DROP TABLE note_signatures")
        opened.execute("DROP TABLE recalls")
        opened.execute("ALTER TABLE notes RENAME COLUMN origin TO author_kind")
        of_notes = ("private", "index_version", "proposal", "questions", "signatures", "confirmed_by", "confirmed_at")
        for column in (*of_notes, "source_file"):
            opened.execute(f"ALTER TABLE notes DROP COLUMN {column}")
        for column in ("part", "question"):
            opened.execute(f"ALTER TABLE passages DROP COLUMN {column}")
        opened.execute("PRAGMA user_version = 1")
