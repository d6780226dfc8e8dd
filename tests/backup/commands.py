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


FIRST_SCHEMA = {
    "table": {"notes", "note_tags", "passages", "vectors", "words", "vocabulary", "revision", "leases"},
    "index": {"notes_by_age", "tags_by_note", "passages_by_note", "vectors_by_model", "vectors_by_passage"},
    "trigger": {"vector_gone"},
}
FIRST_COLUMNS = {
    "notes": "seq id title content tags source status user_id author_kind created_at updated_at".split(),
    "passages": "id note start stop".split(),
}


def downgrade(database: Path) -> None:
    """To the first schema, whatever has been added since."""
    with closing(sqlite3.connect(database)) as opened, opened:
        for kind in ("trigger", "index", "table"):
            names = (
                "SELECT name FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'words_%'"
            )
            for (name,) in opened.execute(names, (kind,)).fetchall():
                if name not in FIRST_SCHEMA[kind]:
                    opened.execute(f"DROP {kind} {name}")
        opened.execute("ALTER TABLE notes RENAME COLUMN origin TO author_kind")
        for table, kept in FIRST_COLUMNS.items():
            for _, column, *_ in opened.execute(f"PRAGMA table_info({table})").fetchall():
                if column not in kept:
                    opened.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        opened.execute(
            "CREATE TRIGGER passage_gone AFTER DELETE ON passages BEGIN DELETE FROM words WHERE rowid = old.id; END"
        )
        opened.execute("PRAGMA user_version = 1")
