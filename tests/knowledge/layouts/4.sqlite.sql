-- Notes as version 4 of the tables stored them in SQLite.
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
    stop INTEGER NOT NULL,
    owner TEXT,
    length INTEGER NOT NULL DEFAULT 0
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
CREATE TRIGGER vector_gone AFTER DELETE ON vectors BEGIN
    UPDATE revision SET deletions = deletions + 1;
END;
CREATE TABLE leases (name TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL);

CREATE INDEX passages_by_owner ON passages (owner) WHERE owner IS NOT NULL;
CREATE VIRTUAL TABLE postings USING fts5vocab (words, instance);
CREATE TABLE corpus (
    owner TEXT PRIMARY KEY,
    passages INTEGER NOT NULL,
    tokens INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TRIGGER passage_added AFTER INSERT ON passages BEGIN
    SELECT raise(ABORT, 'a passage has the owner of its note')
        WHERE new.owner IS NOT (SELECT user_id FROM notes WHERE seq = new.note AND private);
    INSERT INTO corpus VALUES (coalesce(new.owner, ''), 1, new.length) ON CONFLICT (owner)
        DO UPDATE SET passages = passages + 1, tokens = tokens + excluded.tokens;
END;
CREATE TRIGGER passage_gone AFTER DELETE ON passages BEGIN
    DELETE FROM words WHERE rowid = old.id;
    UPDATE corpus SET passages = passages - 1, tokens = tokens - old.length WHERE owner = coalesce(old.owner, '');
END;

CREATE TABLE imports (
    note TEXT PRIMARY KEY,
    vault TEXT NOT NULL,
    path TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    version TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO notes (seq, id, title, content, tags, source, status, user_id, author_kind, created_at, updated_at, private) VALUES (1, 'k-1', 'nginx answers 413 when client_', 'nginx answers 413 when client_max_body_size is too small', '["nginx"]', 'https://example.com/x', NULL, 'aki', 'agent', '2026-04-01T12:00:00.000000+00:00', '2026-04-01T12:00:00.000000+00:00', 0);
INSERT INTO notes (seq, id, title, content, tags, source, status, user_id, author_kind, created_at, updated_at, private) VALUES (2, 'k-2', '検索の障害', '検索の結果が空になる。索引を作り直すと直った。', '["検索"]', NULL, NULL, 'ben', 'person', '2026-04-01T12:00:00.000000+00:00', '2026-04-01T12:00:00.000000+00:00', 0);
INSERT INTO notes (seq, id, title, content, tags, source, status, user_id, author_kind, created_at, updated_at, private) VALUES (3, 'k-3', 'redis redis evicts the session', 'redis redis evicts the sessions of 花子 at night', '["Redis", "秘密"]', NULL, NULL, 'aki', 'agent', '2026-04-01T12:00:00.000000+00:00', '2026-04-01T12:00:00.000000+00:00', 1);
INSERT INTO notes (seq, id, title, content, tags, source, status, user_id, author_kind, created_at, updated_at, private) VALUES (4, 'k-4', 'the codename of the merger is ', 'the codename of the merger is kestrel', '[]', NULL, NULL, 'ben', 'agent', '2026-04-01T12:00:00.000000+00:00', '2026-04-01T12:00:00.000000+00:00', 1);
INSERT INTO notes (seq, id, title, content, tags, source, status, user_id, author_kind, created_at, updated_at, private) VALUES (5, 'k-5', '復旧の手順', '# 復旧の手順 after a failed deploy

## 段階 0

担当者は状態を確認し、ログを保存する。Check replica 0 before anything else. ## 段階 0

担当者は状態を確認し、ログを保存する。Check replica 0 before anything else. ## 段階 0

担当者は状態を確認し、ログを保存する。Check replica 0 before anything else. 

## 段階 1

担当者は状態を確認し、ログを保存する。Check replica 1 before anything else. ## 段階 1

担当者は状態を確認し、ログを保存する。Check replica 1 before anything else. ## 段階 1

担当者は状態を確認し、ログを保存する。Check replica 1 before anything else. 

## 段階 2

担当者は状態を確認し、ログを保存する。Check replica 2 before anything else. ## 段階 2

担当者は状態を確認し、ログを保存する。Check replica 2 before anything else. ## 段階 2

担当者は状態を確認し、ログを保存する。Check replica 2 before anything else. 

## 段階 3

担当者は状態を確認し、ログを保存する。Check replica 3 before anything else. ## 段階 3

担当者は状態を確認し、ログを保存する。Check replica 3 before anything else. ## 段階 3

担当者は状態を確認し、ログを保存する。Check replica 3 before anything else. 

## 段階 4

担当者は状態を確認し、ログを保存する。Check replica 4 before anything else. ## 段階 4

担当者は状態を確認し、ログを保存する。Check replica 4 before anything else. ## 段階 4

担当者は状態を確認し、ログを保存する。Check replica 4 before anything else. 

## 段階 5

担当者は状態を確認し、ログを保存する。Check replica 5 before anything else. ## 段階 5

担当者は状態を確認し、ログを保存する。Check replica 5 before anything else. ## 段階 5

担当者は状態を確認し、ログを保存する。Check replica 5 before anything else. 

## 段階 6

担当者は状態を確認し、ログを保存する。Check replica 6 before anything else. ## 段階 6

担当者は状態を確認し、ログを保存する。Check replica 6 before anything else. ## 段階 6

担当者は状態を確認し、ログを保存する。Check replica 6 before anything else. 

## 段階 7

担当者は状態を確認し、ログを保存する。Check replica 7 before anything else. ## 段階 7

担当者は状態を確認し、ログを保存する。Check replica 7 before anything else. ## 段階 7

担当者は状態を確認し、ログを保存する。Check replica 7 before anything else. 

```sh
systemctl restart worker-0.service
systemctl restart worker-1.service
systemctl restart worker-2.service
systemctl restart worker-3.service
systemctl restart worker-4.service
systemctl restart worker-5.service
systemctl restart worker-6.service
systemctl restart worker-7.service
systemctl restart worker-8.service
systemctl restart worker-9.service
systemctl restart worker-10.service
systemctl restart worker-11.service
systemctl restart worker-12.service
systemctl restart worker-13.service
systemctl restart worker-14.service
systemctl restart worker-15.service
systemctl restart worker-16.service
systemctl restart worker-17.service
systemctl restart worker-18.service
systemctl restart worker-19.service
```

最後に監視を再開し、結果を記録する。Write down what was wrong.', '["deploy"]', NULL, NULL, 'aki', 'agent', '2026-04-01T12:00:00.000000+00:00', '2026-04-01T12:00:00.000000+00:00', 0);
INSERT INTO note_tags (tag, note) VALUES ('deploy', 5);
INSERT INTO note_tags (tag, note) VALUES ('nginx', 1);
INSERT INTO note_tags (tag, note) VALUES ('redis', 3);
INSERT INTO note_tags (tag, note) VALUES ('検索', 2);
INSERT INTO note_tags (tag, note) VALUES ('秘密', 3);
INSERT INTO passages (id, note, start, stop, owner, length) VALUES (1, 1, 0, 56, NULL, 13);
INSERT INTO passages (id, note, start, stop, owner, length) VALUES (2, 2, 0, 23, NULL, 24);
INSERT INTO passages (id, note, start, stop, owner, length) VALUES (3, 3, 0, 46, 'aki', 11);
INSERT INTO passages (id, note, start, stop, owner, length) VALUES (4, 4, 0, 37, 'ben', 7);
INSERT INTO passages (id, note, start, stop, owner, length) VALUES (5, 5, 0, 372, NULL, 130);
INSERT INTO passages (id, note, start, stop, owner, length) VALUES (6, 5, 371, 706, NULL, 120);
INSERT INTO passages (id, note, start, stop, owner, length) VALUES (7, 5, 705, 1040, NULL, 120);
INSERT INTO passages (id, note, start, stop, owner, length) VALUES (8, 5, 1030, 1372, NULL, 122);
INSERT INTO passages (id, note, start, stop, owner, length) VALUES (9, 5, 1371, 1631, NULL, 95);
INSERT INTO passages (id, note, start, stop, owner, length) VALUES (10, 5, 1572, 2023, NULL, 93);
INSERT INTO passages (id, note, start, stop, owner, length) VALUES (11, 5, 1952, 2396, NULL, 90);
INSERT INTO vectors (seq, passage, model, vector) VALUES (1, 1, 'hashing-1:8', x'3ad7e5be658fce3de2628ebec78ddcbd5b97a03ebe308fbe83fa36bf6d62dfbd');
INSERT INTO vectors (seq, passage, model, vector) VALUES (2, 2, 'hashing-1:8', x'92729ebe2637323f88f5693e2997cc3e97418fbeb79867be91a504be16f57d3e');
INSERT INTO vectors (seq, passage, model, vector) VALUES (3, 3, 'hashing-1:8', x'b99c0dbeef53023d798520be3d170d3d6ff96ebd89a73abf89d416bf4656893e');
INSERT INTO vectors (seq, passage, model, vector) VALUES (4, 4, 'hashing-1:8', x'eb7625bfb38830bd2ecfeabd2e705f3e0bfd9f3dc5b30ebf1eaae1bee024bd3d');
INSERT INTO vectors (seq, passage, model, vector) VALUES (5, 5, 'hashing-1:8', x'0ef100beeb98123f7c0c0f3f9edc0c3edaaca7bd79b7debeeedcb3be6ffe9abd');
INSERT INTO vectors (seq, passage, model, vector) VALUES (6, 6, 'hashing-1:8', x'663c193e14112c3f6e9a183f24e5053d37ecf43ce4e494befaaa63bef34a3ebe');
INSERT INTO vectors (seq, passage, model, vector) VALUES (7, 7, 'hashing-1:8', x'fcb8cc3dec5b313fb9d80a3fd33f593e14b5203ebed89abe06ea92bd081164be');
INSERT INTO vectors (seq, passage, model, vector) VALUES (8, 8, 'hashing-1:8', x'43d3743d18ef123f8102233f36083b3e860011be95969bbee11ac4bdbd2ca7be');
INSERT INTO vectors (seq, passage, model, vector) VALUES (9, 9, 'hashing-1:8', x'dd14973e35b50c3f04300c3f99d7213e6e77a0bebaddbdbe657552befc02b7bd');
INSERT INTO vectors (seq, passage, model, vector) VALUES (10, 10, 'hashing-1:8', x'534c043e2415b73e83663f3fa18272be4ded9fbd259d9a3e5ec3a83e54ff3d3e');
INSERT INTO vectors (seq, passage, model, vector) VALUES (11, 11, 'hashing-1:8', x'bd32783c7635883eaad5333f4f648fbe9c8f9dbd799ba93e7a8bf23e3a97053e');
INSERT INTO words (rowid, tokens) VALUES (1, 'nginx answer 413 when client_max_body_size client max body size is too small nginx');
INSERT INTO words (rowid, tokens) VALUES (2, '検索 索の の障 障害 検索 索の の結 結果 果が が空 空に にな なる 索引 引を を作 作り り直 直す すと と直 直っ った 検索');
INSERT INTO words (rowid, tokens) VALUES (3, '69c36670d68c8b38redi 69c36670d68c8b38redi 69c36670d68c8b38evict 69c36670d68c8b38the 69c36670d68c8b38session 69c36670d68c8b38of 69c36670d68c8b38花子 69c36670d68c8b38at 69c36670d68c8b38night 69c36670d68c8b38redi 69c36670d68c8b38秘密');
INSERT INTO words (rowid, tokens) VALUES (4, '6700869c8ff7480ethe 6700869c8ff7480ecodename 6700869c8ff7480eof 6700869c8ff7480ethe 6700869c8ff7480emerger 6700869c8ff7480eis 6700869c8ff7480ekestrel');
INSERT INTO words (rowid, tokens) VALUES (5, '復旧 旧の の手 手順 復旧 旧の の手 手順 after a fail deploy 段階 0 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 0 before anyth else 段階 0 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 0 before anyth else 段階 0 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 0 before anyth else 段階 1 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 1 before anyth else 段階 1 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 1 before anyth else 段階 1 deploy');
INSERT INTO words (rowid, tokens) VALUES (6, '復旧 旧の の手 手順 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 1 before anyth else 段階 2 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 2 before anyth else 段階 2 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 2 before anyth else 段階 2 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 2 before anyth else 段階 3 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 3 before anyth else 段階 3 deploy');
INSERT INTO words (rowid, tokens) VALUES (7, '復旧 旧の の手 手順 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 3 before anyth else 段階 3 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 3 before anyth else 段階 4 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 4 before anyth else 段階 4 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 4 before anyth else 段階 4 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 4 before anyth else 段階 5 deploy');
INSERT INTO words (rowid, tokens) VALUES (8, '復旧 旧の の手 手順 段階 5 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 5 before anyth else 段階 5 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 5 before anyth else 段階 5 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 5 before anyth else 段階 6 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 6 before anyth else 段階 6 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 6 before anyth else 段階 6 deploy');
INSERT INTO words (rowid, tokens) VALUES (9, '復旧 旧の の手 手順 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 6 before anyth else 段階 7 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 7 before anyth else 段階 7 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 7 before anyth else 段階 7 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 7 before anyth else deploy');
INSERT INTO words (rowid, tokens) VALUES (10, '復旧 旧の の手 手順 担当 当者 者は は状 状態 態を を確 確認 認し ログ グを を保 保存 存す する check replica 7 before anyth else sh systemctl restart worker-0.service worker 0 service systemctl restart worker-1.service worker 1 service systemctl restart worker-2.service worker 2 service systemctl restart worker-3.service worker 3 service systemctl restart worker-4.service worker 4 service systemctl restart worker-5.service worker 5 service systemctl restart worker-6.service worker 6 service systemctl restart worker-7.service worker 7 service systemctl restart worker-8.service worker 8 service systemctl restart worker-9.service worker 9 service systemctl restart worker-10.service worker 10 service deploy');
INSERT INTO words (rowid, tokens) VALUES (11, '復旧 旧の の手 手順 systemctl restart worker-9.service worker 9 service systemctl restart worker-10.service worker 10 service systemctl restart worker-11.service worker 11 service systemctl restart worker-12.service worker 12 service systemctl restart worker-13.service worker 13 service systemctl restart worker-14.service worker 14 service systemctl restart worker-15.service worker 15 service systemctl restart worker-16.service worker 16 service systemctl restart worker-17.service worker 17 service systemctl restart worker-18.service worker 18 service systemctl restart worker-19.service worker 19 service 最後 後に に監 監視 視を を再 再開 開し 結果 果を を記 記録 録す する write down what was wrong deploy');
PRAGMA user_version = 4;
