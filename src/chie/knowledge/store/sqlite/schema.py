"""The tables of notes, and their version."""

import sqlite3
from functools import partial

from chie.knowledge.sources import file_name
from chie.knowledge.store import records, text_upgrade
from chie.knowledge.store.private_terms import indexed_terms
from chie.knowledge.store.review_records import review_schema
from chie.knowledge.store.sqlite import tables

VERSION = 9  # kept in the file as `user_version`
BEFORE_LINKS = 7
BEFORE_PURGING = 8  # decisions had texts of notes, and titles were folded in ASCII only

# Decisions, uses and recorded searches.
RECORDS = records.schema("")

# What the review found and what was decided, when notes were last used, and unanswered searches.
REVIEW = review_schema("")

# Where notes were imported from. Replacing a note keeps its row, deleting the note deletes it.
IMPORTS = """
CREATE TABLE imports (
    note TEXT PRIMARY KEY,
    vault TEXT NOT NULL,
    path TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    version TEXT NOT NULL
) WITHOUT ROWID;
"""

# What the memory loop looks up: proposals, the errors that notes explain, and which note which session was shown.
RECALL = """CREATE INDEX hidden_notes ON notes (user_id) WHERE private OR proposal;
CREATE INDEX notes_by_source ON notes (source_file) WHERE source_file IS NOT NULL;
CREATE INDEX proposals ON notes (created_at, id) WHERE proposal;
CREATE TABLE note_signatures (
    signature TEXT NOT NULL,
    note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
    PRIMARY KEY (signature, note)
) WITHOUT ROWID;
CREATE INDEX signatures_by_note ON note_signatures (note);
CREATE TABLE recalls (
    session TEXT NOT NULL,
    note TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (session, note)
) WITHOUT ROWID;
CREATE INDEX recalls_by_age ON recalls (at);
"""

# Earlier versions of notes, deleted notes included: `number` counts a note's versions from 1, and the current one has
# no row. A version ended when `change` (changed, deleted, restored) was made; one without `body` is the time between
# a deletion and a restoration. `body` is compressed with that of version `base` as dictionary (`version_body.py`).
# There is no foreign key, because versions outlive their note. `supersessions` repeats `notes.supersedes` as rows.
VERSIONS = """CREATE TABLE note_versions (
    note TEXT NOT NULL,
    number INTEGER NOT NULL,
    began_at TEXT NOT NULL,
    ended_at TEXT NOT NULL,
    ended_by TEXT NOT NULL,
    change TEXT NOT NULL,
    reader TEXT,
    base INTEGER,
    body BLOB,
    PRIMARY KEY (note, number)
) WITHOUT ROWID;
CREATE INDEX versions_by_end ON note_versions (ended_at);
CREATE INDEX deletions ON note_versions (ended_at) WHERE change = 'deleted';
CREATE TABLE supersessions (
    older TEXT NOT NULL,
    newer TEXT NOT NULL,
    PRIMARY KEY (older, newer)
) WITHOUT ROWID;
CREATE INDEX supersessions_by_newer ON supersessions (newer);
"""

# `everybody` and `access` are none, read or write. A repository that is bound to a space names it for hooks.
SPACES = """CREATE INDEX notes_by_space ON notes (space) WHERE space <> 'team';
CREATE TABLE spaces (
    name TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    everybody TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO spaces VALUES ('team', 'Team', 'write');
CREATE TABLE space_grants (
    space TEXT NOT NULL REFERENCES spaces ON DELETE CASCADE,
    user_id TEXT NOT NULL,
    access TEXT NOT NULL,
    PRIMARY KEY (space, user_id)
) WITHOUT ROWID;
CREATE TABLE space_repositories (
    repository TEXT PRIMARY KEY,
    space TEXT NOT NULL REFERENCES spaces ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX repositories_by_space ON space_repositories (space);
"""

# The code that notes are anchored to, and the last report on it, which is valid as long as the anchor is the same.
ANCHORS = """
ALTER TABLE notes ADD COLUMN anchor TEXT;
CREATE INDEX notes_by_repository ON notes (anchor ->> 'repository') WHERE anchor IS NOT NULL;
CREATE TABLE anchor_reports (
    note TEXT PRIMARY KEY,
    anchor TEXT NOT NULL,
    report TEXT NOT NULL,
    committed_at TEXT NOT NULL
) WITHOUT ROWID;
"""

# What the texts of notes link to (`link_table.py`), and the titles by which links find notes. A version has its title
# only if it is a former one.
LINKS = """
ALTER TABLE notes ADD COLUMN folded_title TEXT NOT NULL DEFAULT '';
CREATE INDEX notes_by_title ON notes (folded_title);
ALTER TABLE note_versions ADD COLUMN folded_title TEXT;
CREATE INDEX versions_by_title ON note_versions (folded_title) WHERE folded_title IS NOT NULL;
CREATE TABLE links (
    target TEXT NOT NULL,
    note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
    PRIMARY KEY (target, note)
) WITHOUT ROWID;
CREATE INDEX links_by_note ON links (note);
"""

ERASE_WORDS = "INSERT INTO words (words) VALUES ('optimize')"

# The counts that BM25 needs, by owner; the empty owner stands for the passages that everybody may see.
STATISTICS = """
CREATE INDEX passages_by_owner ON passages (owner) WHERE owner IS NOT NULL;
CREATE VIRTUAL TABLE postings USING fts5vocab (words, instance);
CREATE TABLE corpus (
    owner TEXT PRIMARY KEY,
    passages INTEGER NOT NULL,
    tokens INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TRIGGER passage_gone AFTER DELETE ON passages BEGIN
    DELETE FROM words WHERE rowid = old.id;
    UPDATE corpus SET passages = passages - 1, tokens = tokens - old.length WHERE owner = coalesce(old.owner, '');
END;
"""

# A process of an older version, which does not set `owner`, cannot add hidden passages: everybody would find them.
PASSAGE_ADDED = """
CREATE TRIGGER passage_added AFTER INSERT ON passages BEGIN
    SELECT raise(ABORT, 'a passage has the owner of its note')
        WHERE new.owner IS NOT (SELECT CASE WHEN space <> 'team' THEN
            space || char(31) || iif(private OR proposal, user_id, '') WHEN private OR proposal THEN user_id END
            FROM notes WHERE seq = new.note);
    INSERT INTO corpus VALUES (coalesce(new.owner, ''), 1, new.length) ON CONFLICT (owner)
        DO UPDATE SET passages = passages + 1, tokens = tokens + excluded.tokens;
END;
"""

# Passages are replaced, never updated, so a higher id of a passage or vector means new, and `revision` counts
# deletions. `owner` is the audience of the note (`note.py`), unless all who read the space `team` see it. `part`
# is a passage's position among those of its note, `question` the position of the question that the passage is, and
# `index_version` that of the rules by which the note was split and tokenized. `words` stores our own tokens, hence the
# token characters.
SCHEMA = (
    """
CREATE TABLE notes (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    content TEXT NOT NULL,
    tags TEXT NOT NULL,
    source TEXT,
    status TEXT,
    user_id TEXT NOT NULL,
    origin TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    private INTEGER NOT NULL DEFAULT 0,
    index_version INTEGER NOT NULL DEFAULT 0,
    proposal INTEGER NOT NULL DEFAULT 0,
    questions TEXT NOT NULL DEFAULT '[]',
    signatures TEXT NOT NULL DEFAULT '[]',
    confirmed_by TEXT,
    confirmed_at TEXT,
    source_file TEXT,
    supersedes TEXT NOT NULL DEFAULT '[]',
    space TEXT NOT NULL DEFAULT 'team'
);
CREATE INDEX notes_by_index_version ON notes (index_version);
CREATE INDEX notes_by_age ON notes (created_at DESC, id DESC);
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
    stop INTEGER NOT NULL,
    owner TEXT,
    length INTEGER NOT NULL DEFAULT 0,
    part INTEGER NOT NULL DEFAULT 0,
    question INTEGER
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
CREATE TRIGGER vector_gone AFTER DELETE ON vectors BEGIN
    UPDATE revision SET deletions = deletions + 1;
END;
CREATE TABLE leases (name TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL);
"""
    + STATISTICS
    + PASSAGE_ADDED
    + IMPORTS
    + RECALL
    + VERSIONS
    + RECORDS
    + REVIEW
    + ANCHORS
    + SPACES
    + LINKS
)

# Statements that upgrade a file of this version to the next.
STEPS = {
    1: """
ALTER TABLE notes ADD COLUMN private INTEGER NOT NULL DEFAULT 0;
CREATE INDEX private_notes ON notes (user_id) WHERE private;
""",
    2: f"""
DROP TRIGGER passage_gone;
ALTER TABLE passages ADD COLUMN owner TEXT;
ALTER TABLE passages ADD COLUMN length INTEGER NOT NULL DEFAULT 0;
UPDATE passages SET owner = (SELECT user_id FROM notes WHERE seq = note AND private), length =
    (SELECT length(tokens) - length(replace(tokens, ' ', '')) + (tokens <> '') FROM words WHERE rowid = passages.id);
UPDATE words SET tokens = owned_tokens(tokens, (SELECT owner FROM passages WHERE id = words.rowid))
    WHERE rowid IN (SELECT id FROM passages WHERE owner IS NOT NULL);
{STATISTICS}
INSERT INTO corpus SELECT coalesce(owner, ''), count(*), sum(length) FROM passages GROUP BY 1;
""",
    3: IMPORTS,
    4: """
ALTER TABLE notes ADD COLUMN index_version INTEGER NOT NULL DEFAULT 0;
CREATE INDEX notes_by_index_version ON notes (index_version);
ALTER TABLE passages ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
UPDATE passages SET part = (SELECT count(*) FROM passages p WHERE p.note = passages.note AND p.id < passages.id);
""",
    5: f"""
DROP TRIGGER IF EXISTS passage_added;
ALTER TABLE notes RENAME COLUMN author_kind TO origin;
UPDATE notes SET origin = 'assistant' WHERE origin = 'agent';
ALTER TABLE notes ADD COLUMN proposal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE notes ADD COLUMN questions TEXT NOT NULL DEFAULT '[]';
ALTER TABLE notes ADD COLUMN signatures TEXT NOT NULL DEFAULT '[]';
ALTER TABLE notes ADD COLUMN confirmed_by TEXT;
ALTER TABLE notes ADD COLUMN confirmed_at TEXT;
ALTER TABLE notes ADD COLUMN source_file TEXT;
UPDATE notes SET source_file = file_name(source) WHERE source IS NOT NULL;
UPDATE notes SET confirmed_by = user_id, confirmed_at = updated_at WHERE origin = 'person';
ALTER TABLE passages ADD COLUMN question INTEGER;
DROP INDEX private_notes;
{RECALL}{PASSAGE_ADDED}
""",
    6: f"""
DROP TRIGGER passage_added;
ALTER TABLE notes ADD COLUMN supersedes TEXT NOT NULL DEFAULT '[]';
ALTER TABLE notes ADD COLUMN space TEXT NOT NULL DEFAULT 'team';
{VERSIONS}{RECORDS}{REVIEW}{ANCHORS}{SPACES}{PASSAGE_ADDED}
""",
    7: LINKS,
    8: "",
}


def version(connection: sqlite3.Connection) -> int:
    """0 for an empty file."""
    number: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return number


def create(connection: sqlite3.Connection) -> None:
    _run(connection, SCHEMA)


def upgrade(connection: sqlite3.Connection, found: int) -> None:
    connection.create_function("owned_tokens", 2, _owned_tokens, deterministic=True)
    connection.create_function("file_name", 1, file_name, deterministic=True)
    for step in range(found, VERSION):
        _run(connection, STEPS[step])
        if step in (BEFORE_LINKS, BEFORE_PURGING):
            tables.LINKS.fill(connection)
        if step == BEFORE_PURGING:
            text_upgrade.drop_decided_texts(partial(tables.LINKS.run, connection), "")


def _run(connection: sqlite3.Connection, script: str) -> None:
    """In the transaction of the caller, which `executescript` would commit."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _owned_tokens(tokens: str, owner: str) -> str:
    return " ".join(indexed_terms(tokens.split(), owner))
