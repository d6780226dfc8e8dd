-- Notes as the first release stored them in SQLite.
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
CREATE VIRTUAL TABLE words USING fts5 (tokens, tokenize = "ascii tokenchars '_-./:@\+#'");
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
INSERT INTO notes (seq, id, title, content, tags, source, status, user_id, author_kind, created_at, updated_at, private) VALUES (1, 'k-1', 'nginx answers 413 when client_', 'nginx answers 413 when client_max_body_size is too small', '["nginx"]', 'https://example.com/x', NULL, 'aki', 'agent', '2026-04-01T12:00:00.000000+00:00', '2026-04-01T12:00:00.000000+00:00', 0);
INSERT INTO notes (seq, id, title, content, tags, source, status, user_id, author_kind, created_at, updated_at, private) VALUES (2, 'k-2', '検索の障害', '検索の結果が空になる。索引を作り直すと直った。', '["検索"]', NULL, NULL, 'ben', 'person', '2026-04-01T12:00:00.000000+00:00', '2026-04-01T12:00:00.000000+00:00', 0);
INSERT INTO notes (seq, id, title, content, tags, source, status, user_id, author_kind, created_at, updated_at, private) VALUES (3, 'k-3', 'redis redis evicts the session', 'redis redis evicts the sessions of 花子 at night', '["Redis", "秘密"]', NULL, NULL, 'aki', 'agent', '2026-04-01T12:00:00.000000+00:00', '2026-04-01T12:00:00.000000+00:00', 1);
INSERT INTO notes (seq, id, title, content, tags, source, status, user_id, author_kind, created_at, updated_at, private) VALUES (4, 'k-4', 'the codename of the merger is ', 'the codename of the merger is kestrel', '[]', NULL, NULL, 'ben', 'agent', '2026-04-01T12:00:00.000000+00:00', '2026-04-01T12:00:00.000000+00:00', 1);
INSERT INTO note_tags (tag, note) VALUES ('nginx', 1);
INSERT INTO note_tags (tag, note) VALUES ('redis', 3);
INSERT INTO note_tags (tag, note) VALUES ('検索', 2);
INSERT INTO note_tags (tag, note) VALUES ('秘密', 3);
INSERT INTO passages (id, note, start, stop) VALUES (1, 1, 0, 56);
INSERT INTO passages (id, note, start, stop) VALUES (2, 2, 0, 23);
INSERT INTO passages (id, note, start, stop) VALUES (3, 3, 0, 46);
INSERT INTO passages (id, note, start, stop) VALUES (4, 4, 0, 37);
INSERT INTO vectors (seq, passage, model, vector) VALUES (1, 1, 'hashing-1:8', x'3ad7e5be658fce3de2628ebec78ddcbd5b97a03ebe308fbe83fa36bf6d62dfbd');
INSERT INTO vectors (seq, passage, model, vector) VALUES (2, 2, 'hashing-1:8', x'92729ebe2637323f88f5693e2997cc3e97418fbeb79867be91a504be16f57d3e');
INSERT INTO vectors (seq, passage, model, vector) VALUES (3, 3, 'hashing-1:8', x'b99c0dbeef53023d798520be3d170d3d6ff96ebd89a73abf89d416bf4656893e');
INSERT INTO vectors (seq, passage, model, vector) VALUES (4, 4, 'hashing-1:8', x'eb7625bfb38830bd2ecfeabd2e705f3e0bfd9f3dc5b30ebf1eaae1bee024bd3d');
INSERT INTO words (rowid, tokens) VALUES (1, 'nginx answer 413 when client_max_body_size client max body size is too small nginx');
INSERT INTO words (rowid, tokens) VALUES (2, '検索 索の の障 障害 検索 索の の結 結果 果が が空 空に にな なる 索引 引を を作 作り り直 直す すと と直 直っ った 検索');
INSERT INTO words (rowid, tokens) VALUES (3, 'redi redi evict the session of 花子 at night redi 秘密');
INSERT INTO words (rowid, tokens) VALUES (4, 'the codename of the merger is kestrel');
PRAGMA user_version = 2;
