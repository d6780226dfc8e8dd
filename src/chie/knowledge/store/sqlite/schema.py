"""The tables of notes, and their version."""

import sqlite3

VERSION = 2  # kept in the file as `user_version`

# Passages are replaced, never updated, so a higher id of a passage or vector means new, and `revision` counts
# deletions. `words` stores our own tokens, hence the token characters.
SCHEMA = """
CREATE TABLE notes (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    content TEXT NOT NULL,
    tags TEXT NOT NULL,
    source TEXT,
    status TEXT,
    user_id TEXT NOT NULL,
    author_kind TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    private INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX notes_by_age ON notes (created_at DESC, id DESC);
CREATE INDEX private_notes ON notes (user_id) WHERE private;
CREATE TABLE note_tags (
    tag TEXT NOT NULL,
    note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
    PRIMARY KEY (tag, note)
) WITHOUT ROWID;
CREATE INDEX tags_by_note ON note_tags (note);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL
);
CREATE INDEX passages_by_note ON passages (note);
CREATE TABLE vectors (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    passage INTEGER NOT NULL REFERENCES passages ON DELETE CASCADE,
    model TEXT NOT NULL,
    vector BLOB NOT NULL
);
CREATE UNIQUE INDEX vectors_by_model ON vectors (model, passage);
CREATE INDEX vectors_by_passage ON vectors (passage);
CREATE VIRTUAL TABLE words USING fts5 (tokens, tokenize = "ascii tokenchars '_-./:@\\+#'");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);
CREATE TABLE revision (deletions INTEGER NOT NULL);
INSERT INTO revision VALUES (0);
CREATE TRIGGER passage_gone AFTER DELETE ON passages BEGIN
    DELETE FROM words WHERE rowid = old.id;
END;
CREATE TRIGGER vector_gone AFTER DELETE ON vectors BEGIN
    UPDATE revision SET deletions = deletions + 1;
END;
CREATE TABLE leases (name TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL);
"""

# Statements that upgrade a file of this version to the next.
STEPS = {
    1: (
        "ALTER TABLE notes ADD COLUMN private INTEGER NOT NULL DEFAULT 0",
        "CREATE INDEX private_notes ON notes (user_id) WHERE private",
    ),
}


def version(connection: sqlite3.Connection) -> int:
    """0 for an empty file."""
    number: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return number


def create(connection: sqlite3.Connection) -> None:
    statement = ""
    for line in SCHEMA.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""
    connection.execute(f"PRAGMA user_version = {VERSION}")


def upgrade(connection: sqlite3.Connection, found: int) -> None:
    for step in range(found, VERSION):
        for statement in STEPS[step]:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")
