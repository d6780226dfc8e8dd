"""The tables of notes in PostgreSQL, and their version."""

from functools import partial
from typing import TYPE_CHECKING

from psycopg import errors

from chie.errors import StorageError
from chie.knowledge.store import records, text_upgrade
from chie.knowledge.store.postgres import tables
from chie.knowledge.store.review_records import review_schema

if TYPE_CHECKING:
    from chie.knowledge.store.postgres.pool import Connection

VERSION = 8
BEFORE_LINKS = 6
BEFORE_PURGING = 7  # see `sqlite/schema.py`
SCHEMA_LOCK = 6_840_302  # arbitrary, but the same in every version of Chie
EXTENSION = "CREATE EXTENSION IF NOT EXISTS vector"
PGVECTOR = (0, 8)  # the first version with iterative index scans, which filtered searches need

# Decisions, uses and recorded searches.
RECORDS = records.schema("knowledge_")

# What the review found and what was decided, when notes were last used, and unanswered searches.
REVIEW = review_schema("knowledge_")

# Where notes were imported from.
IMPORTS = """
CREATE TABLE knowledge_imports (
    note text COLLATE "C" PRIMARY KEY REFERENCES knowledge_notes (id) ON DELETE CASCADE,
    vault text NOT NULL,
    path text NOT NULL,
    fingerprint text NOT NULL,
    version timestamptz NOT NULL
);
"""

# What the memory loop looks up: proposals, the errors that notes explain, and which note which session was shown.
RECALL = """
CREATE INDEX knowledge_notes_by_signature ON knowledge_notes USING gin (signatures) WHERE signatures <> '{}';
CREATE INDEX knowledge_notes_by_source ON knowledge_notes (source_file) WHERE source_file IS NOT NULL;
CREATE INDEX knowledge_proposals ON knowledge_notes (created_at, id) WHERE proposal;
CREATE TABLE knowledge_recalls (
    session text COLLATE "C" NOT NULL,
    note text COLLATE "C" NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (session, note)
);
CREATE INDEX knowledge_recalls_by_age ON knowledge_recalls (at);
"""

# Earlier versions of notes, and which note supersedes which: see `sqlite/schema.py`.
VERSIONS = """
CREATE TABLE knowledge_versions (
    note text COLLATE "C" NOT NULL,
    number int NOT NULL,
    began_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    ended_by text COLLATE "C" NOT NULL,
    change text NOT NULL,
    reader text COLLATE "C",
    base int,
    body bytea,
    PRIMARY KEY (note, number)
);
ALTER TABLE knowledge_versions ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX knowledge_versions_by_end ON knowledge_versions (ended_at);
CREATE INDEX knowledge_deletions ON knowledge_versions (ended_at) WHERE change = 'deleted';
CREATE TABLE knowledge_supersessions (
    older text COLLATE "C" NOT NULL,
    newer text COLLATE "C" NOT NULL,
    PRIMARY KEY (older, newer)
);
CREATE INDEX knowledge_supersessions_by_newer ON knowledge_supersessions (newer);
"""

# The code that notes are anchored to, and the last report on it, which is valid as long as the anchor is the same.
ANCHORS = """
ALTER TABLE knowledge_notes ADD COLUMN anchor jsonb;
CREATE INDEX knowledge_notes_by_repository ON knowledge_notes ((anchor ->> 'repository')) WHERE anchor IS NOT NULL;
CREATE TABLE knowledge_anchor_reports (
    note text COLLATE "C" PRIMARY KEY REFERENCES knowledge_notes (id) ON DELETE CASCADE,
    anchor jsonb NOT NULL,
    report jsonb NOT NULL,
    committed_at timestamptz NOT NULL
);
"""

# See `sqlite/schema.py`.
SPACES = """
CREATE INDEX knowledge_notes_by_space ON knowledge_notes (space) WHERE space <> 'team';
CREATE TABLE knowledge_spaces (
    name text COLLATE "C" PRIMARY KEY,
    title text NOT NULL,
    everybody text NOT NULL
);
INSERT INTO knowledge_spaces VALUES ('team', 'Team', 'write');
CREATE TABLE knowledge_space_grants (
    space text COLLATE "C" NOT NULL REFERENCES knowledge_spaces ON DELETE CASCADE,
    user_id text COLLATE "C" NOT NULL,
    access text NOT NULL,
    PRIMARY KEY (space, user_id)
);
CREATE TABLE knowledge_space_repositories (
    repository text COLLATE "C" PRIMARY KEY,
    space text COLLATE "C" NOT NULL REFERENCES knowledge_spaces ON DELETE CASCADE
);
"""

# See `sqlite/schema.py`.
LINKS = """
ALTER TABLE knowledge_notes ADD COLUMN folded_title text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX knowledge_notes_by_title ON knowledge_notes (folded_title);
ALTER TABLE knowledge_versions ADD COLUMN folded_title text COLLATE "C";
CREATE INDEX knowledge_versions_by_title ON knowledge_versions (folded_title) WHERE folded_title IS NOT NULL;
CREATE TABLE knowledge_links (
    target text COLLATE "C" NOT NULL,
    note bigint NOT NULL REFERENCES knowledge_notes ON DELETE CASCADE,
    PRIMARY KEY (target, note)
);
CREATE INDEX knowledge_links_by_note ON knowledge_links (note);
"""

# Passages are replaced, never updated. `owner` is the audience of the note (`note.py`); it and `labels`, the folded
# tags, are repeated beside words and vectors, so that index scans can filter. `knowledge_corpus` has the counts that
# BM25 needs by owner, with the empty owner for what everybody may see; writers lock that row first.
SCHEMA = f"""
CREATE TABLE knowledge_schema (version int NOT NULL);
CREATE TABLE knowledge_notes (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    title text NOT NULL,
    content text NOT NULL,
    tags text[] NOT NULL,
    labels text[] COLLATE "C" NOT NULL,
    source text,
    status text,
    user_id text COLLATE "C" NOT NULL,
    origin text NOT NULL,
    private boolean NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    index_version int NOT NULL DEFAULT 0,
    proposal boolean NOT NULL DEFAULT false,
    questions text[] NOT NULL DEFAULT '{{}}',
    signatures text[] COLLATE "C" NOT NULL DEFAULT '{{}}',
    confirmed_by text COLLATE "C",
    confirmed_at timestamptz,
    source_file text COLLATE "C",
    supersedes text[] COLLATE "C" NOT NULL DEFAULT '{{}}',
    space text COLLATE "C" NOT NULL DEFAULT 'team'
);
CREATE INDEX knowledge_notes_by_index_version ON knowledge_notes (index_version);
CREATE INDEX knowledge_notes_by_age ON knowledge_notes (created_at DESC, id DESC);
CREATE INDEX knowledge_notes_by_label ON knowledge_notes USING gin (labels) WITH (fastupdate = off);
CREATE TABLE knowledge_passages (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    note bigint NOT NULL REFERENCES knowledge_notes ON DELETE CASCADE,
    start int NOT NULL,
    stop int NOT NULL,
    owner text COLLATE "C",
    labels text[] COLLATE "C" NOT NULL,
    terms text[] COLLATE "C" NOT NULL,
    repeated jsonb,
    length int NOT NULL,
    part int NOT NULL DEFAULT 0,
    question int
);
CREATE INDEX knowledge_passages_by_note ON knowledge_passages (note);
CREATE INDEX knowledge_passages_by_owner ON knowledge_passages (owner) WHERE owner IS NOT NULL;
CREATE INDEX knowledge_passages_by_word ON knowledge_passages USING gin (terms, labels) WITH (fastupdate = off);
CREATE TABLE knowledge_models (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    vectors bigint NOT NULL DEFAULT 0
);
CREATE TABLE knowledge_vectors (
    passage bigint NOT NULL REFERENCES knowledge_passages ON DELETE CASCADE,
    model int NOT NULL REFERENCES knowledge_models,
    note bigint NOT NULL,
    owner text COLLATE "C",
    labels text[] COLLATE "C" NOT NULL,
    vector vector NOT NULL,
    PRIMARY KEY (passage, model)
);
CREATE TABLE knowledge_vocabulary (
    term text COLLATE "C" PRIMARY KEY,
    passages bigint NOT NULL
) WITH (fillfactor = 70);
CREATE TABLE knowledge_corpus (
    notes bigint,
    passages bigint,
    tokens bigint,
    revision bigint,
    owner text COLLATE "C" NOT NULL DEFAULT '' PRIMARY KEY
) WITH (fillfactor = 10);
CREATE TABLE knowledge_leases (name text PRIMARY KEY, owner text NOT NULL, until timestamptz NOT NULL);
INSERT INTO knowledge_corpus VALUES (0, 0, 0, 0);
{IMPORTS}{RECALL}{VERSIONS}{RECORDS}{REVIEW}{ANCHORS}{SPACES}{LINKS}"""

# Statements that upgrade a database of this version to the next. From 1 to 2: see `private_terms.py`; the indexes of
# vectors, which now include public notes only, are built again in the background.
STEPS = {
    1: """
ALTER TABLE knowledge_corpus ADD COLUMN owner text COLLATE "C" NOT NULL DEFAULT '' PRIMARY KEY;
INSERT INTO knowledge_corpus (notes, passages, tokens, revision, owner)
    SELECT count(DISTINCT note), count(*), sum(length), 0, owner FROM knowledge_passages WHERE owner IS NOT NULL
    GROUP BY owner;
UPDATE knowledge_corpus c SET notes = c.notes - p.notes, passages = c.passages - p.passages,
    tokens = c.tokens - p.tokens FROM (SELECT coalesce(sum(notes), 0) AS notes, coalesce(sum(passages), 0) AS passages,
    coalesce(sum(tokens), 0) AS tokens FROM knowledge_corpus WHERE owner <> '') p WHERE c.owner = '';
UPDATE knowledge_vocabulary v SET passages = v.passages - p.passages FROM (SELECT t AS term, count(*) AS passages
    FROM knowledge_passages, unnest(terms) t WHERE owner IS NOT NULL GROUP BY t) p WHERE v.term = p.term;
DELETE FROM knowledge_vocabulary WHERE passages <= 0;
UPDATE knowledge_passages p SET
    terms = ARRAY(SELECT k.key || t FROM unnest(p.terms) WITH ORDINALITY u (t, n) ORDER BY n),
    repeated = (SELECT jsonb_object_agg(k.key || r.key, r.value) FROM jsonb_each(p.repeated) r)
    FROM (SELECT owner, chr(57344) || left(encode(sha256(convert_to(owner, 'UTF8')), 'hex'), 16) || chr(57344) AS key
    FROM knowledge_corpus WHERE owner <> '') k WHERE p.owner = k.owner;
INSERT INTO knowledge_vocabulary
    SELECT t, count(*) FROM knowledge_passages, unnest(terms) t WHERE owner IS NOT NULL GROUP BY t;
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT indexname FROM pg_indexes
        WHERE schemaname = current_schema AND starts_with(indexname, 'knowledge_nearest_')
    LOOP EXECUTE format('DROP INDEX %I', name); END LOOP;
END $$;
""",
    2: IMPORTS,
    3: """
ALTER TABLE knowledge_notes ADD COLUMN index_version int NOT NULL DEFAULT 0;
CREATE INDEX knowledge_notes_by_index_version ON knowledge_notes (index_version);
ALTER TABLE knowledge_passages ADD COLUMN part int NOT NULL DEFAULT 0;
UPDATE knowledge_passages p SET part = o.part - 1 FROM
    (SELECT id, row_number() OVER (PARTITION BY note ORDER BY id) AS part FROM knowledge_passages) o
    WHERE p.id = o.id AND o.part > 1;
""",
    4: f"""
ALTER TABLE knowledge_notes RENAME COLUMN author_kind TO origin;
UPDATE knowledge_notes SET origin = 'assistant' WHERE origin = 'agent';
ALTER TABLE knowledge_notes ADD COLUMN proposal boolean NOT NULL DEFAULT false;
ALTER TABLE knowledge_notes ADD COLUMN questions text[] NOT NULL DEFAULT '{{}}';
ALTER TABLE knowledge_notes ADD COLUMN signatures text[] COLLATE "C" NOT NULL DEFAULT '{{}}';
ALTER TABLE knowledge_notes ADD COLUMN confirmed_by text COLLATE "C";
ALTER TABLE knowledge_notes ADD COLUMN confirmed_at timestamptz;
ALTER TABLE knowledge_notes ADD COLUMN source_file text COLLATE "C";
UPDATE knowledge_notes SET confirmed_by = user_id, confirmed_at = updated_at WHERE origin = 'person';
UPDATE knowledge_notes SET source_file = left(lower(regexp_replace(
    regexp_replace(source, '([#?].*|:[0-9][0-9,:-]*)$', ''), '^.*[/\\\\]', '')), 500) WHERE source IS NOT NULL;
ALTER TABLE knowledge_passages ADD COLUMN question int;
{RECALL}
""",
    5: f"""
ALTER TABLE knowledge_notes ADD COLUMN supersedes text[] COLLATE "C" NOT NULL DEFAULT '{{}}';
ALTER TABLE knowledge_notes ADD COLUMN space text COLLATE "C" NOT NULL DEFAULT 'team';
{VERSIONS}{RECORDS}{REVIEW}{ANCHORS}{SPACES}
""",
    6: LINKS,
    7: "",
}


def prepare(connection: "Connection", location: str) -> None:
    """Create or upgrade the tables; processes that start together wait for the first."""
    version = _version(connection)
    if version < VERSION:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (SCHEMA_LOCK,))
            version = _version(connection)
            if version == 0:
                _create(connection, location)
            for step in range(version or VERSION, VERSION):
                connection.execute(STEPS[step])
                if step in (BEFORE_LINKS, BEFORE_PURGING):
                    tables.LINKS.fill(connection)
                if step == BEFORE_PURGING:
                    text_upgrade.drop_decided_texts(partial(tables.LINKS.run, connection), "knowledge_")
            connection.execute("UPDATE knowledge_schema SET version = %s WHERE version < %s", (VERSION, VERSION))
    if version > VERSION:
        raise StorageError("database.schema_newer", location=location, found=version, supported=VERSION)


def _version(connection: "Connection") -> int:
    """0 for an empty database. A query on the catalogue makes the session see tables that others just created."""
    row = connection.execute("SELECT 1 FROM pg_class WHERE oid = to_regclass('knowledge_schema')").fetchone()
    if row is None:
        return 0
    row = connection.execute("SELECT version FROM knowledge_schema").fetchone()
    return row[0] if row else 0


def _create(connection: "Connection", location: str) -> None:
    _require_utf8(connection, location)
    _require_vector(connection, location)
    connection.execute(SCHEMA)
    connection.execute("INSERT INTO knowledge_schema VALUES (%s)", (VERSION,))


def _require_utf8(connection: "Connection", location: str) -> None:
    row = connection.execute("SHOW server_encoding").fetchone()
    if row != ("UTF8",):
        raise StorageError("database.encoding_unsupported", location=location)


def _require_vector(connection: "Connection", location: str) -> None:
    try:
        with connection.transaction():
            connection.execute(EXTENSION)
    except errors.InsufficientPrivilege as error:
        raise StorageError("database.pgvector_forbidden", location=location) from error
    except (errors.FeatureNotSupported, errors.UndefinedFile) as error:
        raise StorageError("database.pgvector_missing", location=location) from error
    row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    found = row[0] if row else "0"
    if tuple(int(part) for part in found.split(".")[:2]) < PGVECTOR:
        needed = ".".join(map(str, PGVECTOR))
        raise StorageError("database.pgvector_outdated", location=location, found=found, needed=needed)
