-- Notes as version 7 of the tables stored them in SQLite.
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
CREATE TRIGGER passage_gone AFTER DELETE ON passages BEGIN
    DELETE FROM words WHERE rowid = old.id;
    UPDATE corpus SET passages = passages - 1, tokens = tokens - old.length WHERE owner = coalesce(old.owner, '');
END;

CREATE TRIGGER passage_added AFTER INSERT ON passages BEGIN
    SELECT raise(ABORT, 'a passage has the owner of its note')
        WHERE new.owner IS NOT (SELECT CASE WHEN space <> 'team' THEN
            space || char(31) || iif(private OR proposal, user_id, '') WHEN private OR proposal THEN user_id END
            FROM notes WHERE seq = new.note);
    INSERT INTO corpus VALUES (coalesce(new.owner, ''), 1, new.length) ON CONFLICT (owner)
        DO UPDATE SET passages = passages + 1, tokens = tokens + excluded.tokens;
END;

CREATE TABLE imports (
    note TEXT PRIMARY KEY,
    vault TEXT NOT NULL,
    path TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    version TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX hidden_notes ON notes (user_id) WHERE private OR proposal;
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
CREATE TABLE note_versions (
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

CREATE TABLE decisions (proposal TEXT PRIMARY KEY, at TEXT NOT NULL, decision TEXT NOT NULL);
CREATE INDEX decisions_by_age ON decisions (at);
CREATE TABLE uses (note TEXT NOT NULL, kind TEXT NOT NULL, count BIGINT NOT NULL, PRIMARY KEY (note, kind));
CREATE TABLE marks (note TEXT NOT NULL, user_id TEXT NOT NULL, mark TEXT NOT NULL, PRIMARY KEY (note, user_id));
CREATE TABLE recording_users (user_id TEXT PRIMARY KEY);
CREATE TABLE recorded_searches (
    user_id TEXT NOT NULL, query TEXT NOT NULL, note TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (user_id, query, note)
);

CREATE TABLE review_checked (note TEXT PRIMARY KEY, version TEXT NOT NULL);
CREATE TABLE review_pairs (
    a TEXT NOT NULL, b TEXT NOT NULL, kind TEXT NOT NULL, probability DOUBLE PRECISION NOT NULL, reason TEXT NOT NULL,
    here TEXT NOT NULL, there TEXT NOT NULL, PRIMARY KEY (a, b)
);
CREATE INDEX review_pairs_by_b ON review_pairs (b);
CREATE TABLE review_decisions (
    id TEXT PRIMARY KEY, finding TEXT NOT NULL, fingerprint TEXT NOT NULL, at TEXT NOT NULL, decision TEXT NOT NULL
);
CREATE INDEX review_decisions_by_finding ON review_decisions (finding);
CREATE TABLE last_uses (note TEXT PRIMARY KEY, at TEXT NOT NULL);
CREATE TABLE unanswered_searches (
    user_id TEXT NOT NULL, query TEXT NOT NULL, count BIGINT NOT NULL, last_at TEXT NOT NULL,
    PRIMARY KEY (user_id, query)
);

ALTER TABLE notes ADD COLUMN anchor TEXT;
CREATE INDEX notes_by_repository ON notes (anchor ->> 'repository') WHERE anchor IS NOT NULL;
CREATE TABLE anchor_reports (
    note TEXT PRIMARY KEY,
    anchor TEXT NOT NULL,
    report TEXT NOT NULL,
    committed_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX notes_by_space ON notes (space) WHERE space <> 'team';
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
INSERT INTO spaces (name, title, everybody) VALUES ('infra', '基盤', 'none');
INSERT INTO space_grants (space, user_id, access) VALUES ('infra', 'aki', 'write');
INSERT INTO notes (seq, id, title, content, tags, source, status, user_id, origin, created_at, updated_at, private, index_version, proposal, questions, signatures, confirmed_by, confirmed_at, source_file, supersedes, space, anchor) VALUES (1, 'k-1', 'nginx answers 413 when client_', 'nginx answers 413 when client_max_body_size is too small', '["nginx"]', 'https://example.com/x', NULL, 'aki', 'assistant', '2026-04-01T12:00:00.000000+00:00', '2026-04-01T12:00:00.000000+00:00', 0, 3003, 0, '[]', '[]', NULL, NULL, 'x', '[]', 'team', NULL);
INSERT INTO notes (seq, id, title, content, tags, source, status, user_id, origin, created_at, updated_at, private, index_version, proposal, questions, signatures, confirmed_by, confirmed_at, source_file, supersedes, space, anchor) VALUES (2, 'k-2', '検索の障害', '検索の結果が空になる。索引を作り直すと直った。', '["検索"]', NULL, NULL, 'ben', 'person', '2026-04-01T12:00:00.000000+00:00', '2026-04-01T12:00:00.000000+00:00', 0, 3003, 0, '[]', '[]', 'ben', '2026-04-01T12:00:00.000000+00:00', NULL, '[]', 'team', NULL);
INSERT INTO notes (seq, id, title, content, tags, source, status, user_id, origin, created_at, updated_at, private, index_version, proposal, questions, signatures, confirmed_by, confirmed_at, source_file, supersedes, space, anchor) VALUES (3, 'k-3', 'redis redis evicts the session', 'redis redis evicts the sessions of 花子 at night', '["Redis", "秘密"]', NULL, NULL, 'aki', 'assistant', '2026-04-01T12:00:00.000000+00:00', '2026-04-01T12:00:00.000000+00:00', 1, 3003, 0, '[]', '[]', NULL, NULL, NULL, '[]', 'team', NULL);
INSERT INTO notes (seq, id, title, content, tags, source, status, user_id, origin, created_at, updated_at, private, index_version, proposal, questions, signatures, confirmed_by, confirmed_at, source_file, supersedes, space, anchor) VALUES (4, 'k-4', 'the codename of the merger is ', 'the codename of the merger is kestrel', '[]', NULL, NULL, 'ben', 'assistant', '2026-04-01T12:00:00.000000+00:00', '2026-04-01T12:00:00.000000+00:00', 1, 3003, 0, '[]', '[]', NULL, NULL, NULL, '[]', 'team', NULL);
INSERT INTO notes (seq, id, title, content, tags, source, status, user_id, origin, created_at, updated_at, private, index_version, proposal, questions, signatures, confirmed_by, confirmed_at, source_file, supersedes, space, anchor) VALUES (5, 'k-5', '復旧の手順', '# 復旧の手順 after a failed deploy

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

最後に監視を再開し、結果を記録する。Write down what was wrong.', '["deploy"]', NULL, NULL, 'aki', 'assistant', '2026-04-01T12:00:00.000000+00:00', '2026-04-01T12:00:00.000000+00:00', 0, 3003, 0, '[]', '[]', NULL, NULL, NULL, '[]', 'team', NULL);
INSERT INTO notes (seq, id, title, content, tags, source, status, user_id, origin, created_at, updated_at, private, index_version, proposal, questions, signatures, confirmed_by, confirmed_at, source_file, supersedes, space, anchor) VALUES (6, 'k-6', '電源が落ちる / Power supply', 'The server loses power when the UPS battery is older than four years. 交換が必要。', '["Power", "電源"]', 'docs/power.md:12-20', 'draft', 'ben', 'hook', '2026-04-01T12:00:00.000000+00:00', '2026-04-01T12:00:00.000000+00:00', 0, 3003, 1, '["なぜサーバーが落ちる?", "Why does the server lose power?"]', '["ups <n>: battery low"]', NULL, NULL, 'power.md', '[]', 'team', NULL);
INSERT INTO notes (seq, id, title, content, tags, source, status, user_id, origin, created_at, updated_at, private, index_version, proposal, questions, signatures, confirmed_by, confirmed_at, source_file, supersedes, space, anchor) VALUES (7, 'k-7', 'リンク集', 'See [[検索の障害|search]], [[古い 題]], [[Secret name]], note://k-1 and `[[Not a link]]`.', '[]', NULL, NULL, 'aki', 'assistant', '2026-04-01T12:00:00.000000+00:00', '2026-04-01T12:00:00.000000+00:00', 0, 3003, 0, '[]', '[]', NULL, NULL, 'a.py', '["k-2"]', 'infra', '{"commit": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "lines": "1-2", "path": "src/a.py", "repository": "github.com/org/repo"}');
INSERT INTO notes (seq, id, title, content, tags, source, status, user_id, origin, created_at, updated_at, private, index_version, proposal, questions, signatures, confirmed_by, confirmed_at, source_file, supersedes, space, anchor) VALUES (9, 'k-8', '新しい題', 'Its title has changed twice.', '[]', NULL, NULL, 'aki', 'assistant', '2026-04-01T12:00:00.000000+00:00', '2026-04-04T12:00:00.000000+00:00', 0, 3003, 0, '[]', '[]', NULL, NULL, NULL, '[]', 'team', NULL);
INSERT INTO note_tags (tag, note) VALUES ('deploy', 5);
INSERT INTO note_tags (tag, note) VALUES ('nginx', 1);
INSERT INTO note_tags (tag, note) VALUES ('power', 6);
INSERT INTO note_tags (tag, note) VALUES ('redis', 3);
INSERT INTO note_tags (tag, note) VALUES ('検索', 2);
INSERT INTO note_tags (tag, note) VALUES ('秘密', 3);
INSERT INTO note_tags (tag, note) VALUES ('電源', 6);
INSERT INTO note_signatures (signature, note) VALUES ('ups <n>: battery low', 6);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (1, 1, 0, 56, NULL, 13, 0, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (2, 2, 0, 23, NULL, 25, 0, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (3, 3, 0, 46, 'aki', 11, 0, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (4, 4, 0, 37, 'ben', 7, 0, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (5, 5, 0, 631, NULL, 38, 0, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (6, 5, 0, 631, NULL, 59, 1, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (7, 5, 0, 631, NULL, 38, 2, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (8, 5, 0, 631, NULL, 59, 3, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (9, 5, 0, 631, NULL, 38, 4, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (10, 5, 0, 631, NULL, 59, 5, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (11, 5, 631, 1631, NULL, 38, 6, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (12, 5, 631, 1631, NULL, 59, 7, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (13, 5, 631, 1631, NULL, 38, 8, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (14, 5, 631, 1631, NULL, 59, 9, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (15, 5, 631, 1631, NULL, 38, 10, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (16, 5, 631, 1631, NULL, 59, 11, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (17, 5, 631, 1631, NULL, 38, 12, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (18, 5, 631, 1631, NULL, 59, 13, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (19, 5, 631, 1631, NULL, 38, 14, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (20, 5, 631, 1631, NULL, 59, 15, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (21, 5, 1631, 2396, NULL, 155, 16, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (22, 6, 0, 76, 'ben', 26, 0, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (23, 6, 0, 76, 'ben', 9, 1, 0);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (24, 6, 0, 76, 'ben', 8, 2, 1);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (25, 7, 0, 81, 'infra', 21, 0, NULL);
INSERT INTO passages (id, note, start, stop, owner, length, part, question) VALUES (30, 9, 0, 28, NULL, 9, 0, NULL);
INSERT INTO vectors (seq, passage, model, vector) VALUES (1, 1, 'hashing-1:8', x'd7f40fbfcf88c63ea4c0a6be98a71cbe401ddf3ebb615abebc92d1be8d4303bd');
INSERT INTO vectors (seq, passage, model, vector) VALUES (2, 2, 'hashing-1:8', x'00e1d73dbeeaf93eee765a3ddb18f1be162b293f301ade3c985486be2416103e');
INSERT INTO vectors (seq, passage, model, vector) VALUES (3, 3, 'hashing-1:8', x'b99c0dbeef53023d798520be3d170d3d6ff96ebd89a73abf89d416bf4656893e');
INSERT INTO vectors (seq, passage, model, vector) VALUES (4, 4, 'hashing-1:8', x'66372abf800a37be8b86a4bc1fa7833e83edc7bd25312abf54f844bd9b58993d');
INSERT INTO vectors (seq, passage, model, vector) VALUES (5, 5, 'hashing-1:8', x'0c4a95bd2cb3e93e38ec9a3d50deb0bd677003bf28d8d0be618600bfed8b9a3e');
INSERT INTO vectors (seq, passage, model, vector) VALUES (6, 6, 'hashing-1:8', x'3e1bd23cbfffed3e4df2ca3c32010bbed579c1becc07f5be40b70fbf8a4a8e3e');
INSERT INTO vectors (seq, passage, model, vector) VALUES (7, 7, 'hashing-1:8', x'62a98f3dd53bef3e00268a3d18cbaabda37217bf392f86be234212bf647011be');
INSERT INTO vectors (seq, passage, model, vector) VALUES (8, 8, 'hashing-1:8', x'f02c143e00b6f53e1e71883c4a350cbefcafe1bef270bdbe306a20bf65f19cbd');
INSERT INTO vectors (seq, passage, model, vector) VALUES (9, 9, 'hashing-1:8', x'98c5933eb28b0d3f193fa63d4e2f95bed0cb08bf011872bda16af5beace8d9bc');
INSERT INTO vectors (seq, passage, model, vector) VALUES (10, 10, 'hashing-1:8', x'415ca33edca50c3f453dfa3c44909bbe1802cebe5cb64bbe698d0cbf0bbd653c');
INSERT INTO vectors (seq, passage, model, vector) VALUES (11, 11, 'hashing-1:8', x'eaef903e4fac253fa0fbe93d306b3dbea79de4be4f36e8be604023be83441c3e');
INSERT INTO vectors (seq, passage, model, vector) VALUES (12, 12, 'hashing-1:8', x'6549a23e8c34193f496a093df71964be24d28cbe48d507bf9d9aa8be50f2213e');
INSERT INTO vectors (seq, passage, model, vector) VALUES (13, 13, 'hashing-1:8', x'5c52643eff15343fe03cd7bdefefb2bd784b04bfdcfa6dbd56cecebeab6e66bd');
INSERT INTO vectors (seq, passage, model, vector) VALUES (14, 14, 'hashing-1:8', x'50928e3ebbd3293f3b6b01bef42b1cbe9f13b3beb0f875bea04f03bfe1686d3b');
INSERT INTO vectors (seq, passage, model, vector) VALUES (15, 15, 'hashing-1:8', x'64c3c03e1805f23e02f21d3e7f9355bc1de91abfeff68abe9332a8be539c80be');
INSERT INTO vectors (seq, passage, model, vector) VALUES (16, 16, 'hashing-1:8', x'e2afcc3e2f17fd3e97d0aa3db93ab1bdd925e6be8bc8c8be5aa7e4be216c25be');
INSERT INTO vectors (seq, passage, model, vector) VALUES (17, 17, 'hashing-1:8', x'842789bd8787e03e9c05663d70c266bef6224fbf90b271bd647a9abe6782043c');
INSERT INTO vectors (seq, passage, model, vector) VALUES (18, 18, 'hashing-1:8', x'd201343d7e8ffc3e3c609d3ba5708bbe866e26bfcc346ebee8b1e5be97334d3d');
INSERT INTO vectors (seq, passage, model, vector) VALUES (19, 19, 'hashing-1:8', x'1813d23eca389b3edce191bd5c11e7bd49633fbf76d84cbe2b59a4be75b0103e');
INSERT INTO vectors (seq, passage, model, vector) VALUES (20, 20, 'hashing-1:8', x'90cbda3e7d9cb43e90c5c3bde50725be372e17bf47a1a3beaf22dbbe85de1d3e');
INSERT INTO vectors (seq, passage, model, vector) VALUES (21, 21, 'hashing-1:8', x'49e6db3db4a04a3e4d57903e71ec1dbf260894be2f91fd3ebc08b03e3b63523e');
INSERT INTO vectors (seq, passage, model, vector) VALUES (22, 22, 'hashing-1:8', x'b3feb7bc2b6dd83e4df8e5beca0fe1bd9713f33e12240c3f0cd64a3eff8f53be');
INSERT INTO vectors (seq, passage, model, vector) VALUES (23, 23, 'hashing-1:8', x'312c023f86ea233de318dabea8b6c03d6485f2be5ef904be31da82bd39330d3f');
INSERT INTO vectors (seq, passage, model, vector) VALUES (24, 24, 'hashing-1:8', x'28bef7be4f6a23bf48060bbc1dc057be3d1af6bd39ddc13e6bab90beab678dbe');
INSERT INTO vectors (seq, passage, model, vector) VALUES (25, 25, 'hashing-1:8', x'16ade03e31e6a73d69af4a3e320217bfef611a3f205560bed2d0513b8b92323d');
INSERT INTO vectors (seq, passage, model, vector) VALUES (30, 30, 'hashing-1:8', x'38b88b3e40006ebead7cb7bd71fe46bf9c1da6bef6185ebe91099c3eddf1f23d');
INSERT INTO words (rowid, tokens) VALUES (1, 'nginx answer 413 when client_max_body_size client max body siz is too small nginx');
INSERT INTO words (rowid, tokens) VALUES (2, '検索 索ノ ノ障 障害 検索 索ノ ノ結 結果 果ガ ガ空 空ニ ニナ ナル 索引 引ヲ ヲ作 作リ リ直 直ス スト ト直 直ッ ッタ 作直 検索');
INSERT INTO words (rowid, tokens) VALUES (3, '69c36670d68c8b38redi 69c36670d68c8b38redi 69c36670d68c8b38evict 69c36670d68c8b38the 69c36670d68c8b38session 69c36670d68c8b38of 69c36670d68c8b38花子 69c36670d68c8b38at 69c36670d68c8b38night 69c36670d68c8b38redi 69c36670d68c8b38秘密');
INSERT INTO words (rowid, tokens) VALUES (4, '6700869c8ff7480ethe 6700869c8ff7480ecodenam 6700869c8ff7480eof 6700869c8ff7480ethe 6700869c8ff7480emerger 6700869c8ff7480eis 6700869c8ff7480ekestrel');
INSERT INTO words (rowid, tokens) VALUES (5, '復旧 旧ノ ノ手 手順 復旧 旧ノ ノ手 手順 after a fail deploy 段階 0 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 0 befor anyth els 段階 0 deploy');
INSERT INTO words (rowid, tokens) VALUES (6, '復旧 旧ノ ノ手 手順 復旧 旧ノ ノ手 手順 after a fail deploy 段階 0 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 0 befor anyth els 段階 0 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 0 befor anyth els deploy');
INSERT INTO words (rowid, tokens) VALUES (7, '復旧 旧ノ ノ手 手順 復旧 旧ノ ノ手 手順 after a fail deploy 段階 1 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 1 befor anyth els 段階 1 deploy');
INSERT INTO words (rowid, tokens) VALUES (8, '復旧 旧ノ ノ手 手順 復旧 旧ノ ノ手 手順 after a fail deploy 段階 1 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 1 befor anyth els 段階 1 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 1 befor anyth els deploy');
INSERT INTO words (rowid, tokens) VALUES (9, '復旧 旧ノ ノ手 手順 復旧 旧ノ ノ手 手順 after a fail deploy 段階 2 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 2 befor anyth els 段階 2 deploy');
INSERT INTO words (rowid, tokens) VALUES (10, '復旧 旧ノ ノ手 手順 復旧 旧ノ ノ手 手順 after a fail deploy 段階 2 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 2 befor anyth els 段階 2 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 2 befor anyth els deploy');
INSERT INTO words (rowid, tokens) VALUES (11, '復旧 旧ノ ノ手 手順 復旧 旧ノ ノ手 手順 after a fail deploy 段階 3 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 3 befor anyth els 段階 3 deploy');
INSERT INTO words (rowid, tokens) VALUES (12, '復旧 旧ノ ノ手 手順 復旧 旧ノ ノ手 手順 after a fail deploy 段階 3 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 3 befor anyth els 段階 3 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 3 befor anyth els deploy');
INSERT INTO words (rowid, tokens) VALUES (13, '復旧 旧ノ ノ手 手順 復旧 旧ノ ノ手 手順 after a fail deploy 段階 4 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 4 befor anyth els 段階 4 deploy');
INSERT INTO words (rowid, tokens) VALUES (14, '復旧 旧ノ ノ手 手順 復旧 旧ノ ノ手 手順 after a fail deploy 段階 4 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 4 befor anyth els 段階 4 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 4 befor anyth els deploy');
INSERT INTO words (rowid, tokens) VALUES (15, '復旧 旧ノ ノ手 手順 復旧 旧ノ ノ手 手順 after a fail deploy 段階 5 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 5 befor anyth els 段階 5 deploy');
INSERT INTO words (rowid, tokens) VALUES (16, '復旧 旧ノ ノ手 手順 復旧 旧ノ ノ手 手順 after a fail deploy 段階 5 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 5 befor anyth els 段階 5 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 5 befor anyth els deploy');
INSERT INTO words (rowid, tokens) VALUES (17, '復旧 旧ノ ノ手 手順 復旧 旧ノ ノ手 手順 after a fail deploy 段階 6 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 6 befor anyth els 段階 6 deploy');
INSERT INTO words (rowid, tokens) VALUES (18, '復旧 旧ノ ノ手 手順 復旧 旧ノ ノ手 手順 after a fail deploy 段階 6 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 6 befor anyth els 段階 6 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 6 befor anyth els deploy');
INSERT INTO words (rowid, tokens) VALUES (19, '復旧 旧ノ ノ手 手順 復旧 旧ノ ノ手 手順 after a fail deploy 段階 7 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 7 befor anyth els 段階 7 deploy');
INSERT INTO words (rowid, tokens) VALUES (20, '復旧 旧ノ ノ手 手順 復旧 旧ノ ノ手 手順 after a fail deploy 段階 7 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 7 befor anyth els 段階 7 担当 当者 者ハ ハ状 状態 態ヲ ヲ確 確認 認シ ログ グヲ ヲ保 保存 存ス スル check replica 7 befor anyth els deploy');
INSERT INTO words (rowid, tokens) VALUES (21, '復旧 旧ノ ノ手 手順 復旧 旧ノ ノ手 手順 after a fail deploy 段階 7 sh systemctl restart worker-0.service worker 0 servic systemctl restart worker-1.service worker 1 servic systemctl restart worker-2.service worker 2 servic systemctl restart worker-3.service worker 3 servic systemctl restart worker-4.service worker 4 servic systemctl restart worker-5.service worker 5 servic systemctl restart worker-6.service worker 6 servic systemctl restart worker-7.service worker 7 servic systemctl restart worker-8.service worker 8 servic systemctl restart worker-9.service worker 9 servic systemctl restart worker-10.service worker 10 servic systemctl restart worker-11.service worker 11 servic systemctl restart worker-12.service worker 12 servic systemctl restart worker-13.service worker 13 servic systemctl restart worker-14.service worker 14 servic systemctl restart worker-15.service worker 15 servic systemctl restart worker-16.service worker 16 servic systemctl restart worker-17.service worker 17 servic systemctl restart worker-18.service worker 18 servic systemctl restart worker-19.service worker 19 servic 最後 後ニ ニ監 監視 視ヲ ヲ再 再開 開シ 結果 果ヲ ヲ記 記録 録ス スル writ down what was wrong deploy');
INSERT INTO words (rowid, tokens) VALUES (22, '6700869c8ff7480e電源 6700869c8ff7480e源ガ 6700869c8ff7480eガ落 6700869c8ff7480e落チ 6700869c8ff7480eチル 6700869c8ff7480epower 6700869c8ff7480esupply 6700869c8ff7480ethe 6700869c8ff7480eserver 6700869c8ff7480elos 6700869c8ff7480epower 6700869c8ff7480ewhen 6700869c8ff7480ethe 6700869c8ff7480eups 6700869c8ff7480ebattery 6700869c8ff7480eis 6700869c8ff7480eolder 6700869c8ff7480ethan 6700869c8ff7480efour 6700869c8ff7480eyear 6700869c8ff7480e交換 6700869c8ff7480e換ガ 6700869c8ff7480eガ必 6700869c8ff7480e必要 6700869c8ff7480epower 6700869c8ff7480e電源');
INSERT INTO words (rowid, tokens) VALUES (23, '6700869c8ff7480eナゼ 6700869c8ff7480eゼサ 6700869c8ff7480eサバ 6700869c8ff7480eバガ 6700869c8ff7480eガ落 6700869c8ff7480e落チ 6700869c8ff7480eチル 6700869c8ff7480epower 6700869c8ff7480e電源');
INSERT INTO words (rowid, tokens) VALUES (24, '6700869c8ff7480ewhy 6700869c8ff7480edo 6700869c8ff7480ethe 6700869c8ff7480eserver 6700869c8ff7480elos 6700869c8ff7480epower 6700869c8ff7480epower 6700869c8ff7480e電源');
INSERT INTO words (rowid, tokens) VALUES (25, 'f5285a0e062b1a58リン f5285a0e062b1a58ンク f5285a0e062b1a58ク集 f5285a0e062b1a58see f5285a0e062b1a58検索 f5285a0e062b1a58索ノ f5285a0e062b1a58ノ障 f5285a0e062b1a58障害 f5285a0e062b1a58search f5285a0e062b1a58古イ f5285a0e062b1a58題 f5285a0e062b1a58secret f5285a0e062b1a58nam f5285a0e062b1a58not f5285a0e062b1a58k-1 f5285a0e062b1a58k f5285a0e062b1a581 f5285a0e062b1a58and f5285a0e062b1a58not f5285a0e062b1a58a f5285a0e062b1a58link');
INSERT INTO words (rowid, tokens) VALUES (30, '新シ シイ イ題 新題 its titl has chang twic');
INSERT INTO imports (note, vault, path, fingerprint, version) VALUES ('k-6', 'docs', 'power.md', '5f2c', '2026-04-01T12:00:00.000000+00:00');
INSERT INTO recalls (session, note, at) VALUES ('session-1', 'k-1', '2026-04-01T12:00:00.000000+00:00');
INSERT INTO note_versions (note, number, began_at, ended_at, ended_by, change, reader, base, body) VALUES ('k-8', 1, '2026-04-01T12:00:00.000000+00:00', '2026-04-02T12:00:00.000000+00:00', 'aki', 'changed', 'aki', NULL, x'ab562ac92cc94955b2520a4e4d2e4a2d51f04bcc4d55d2512a2d4e2d8acf4c018a27666702f905459965892540752545a5a93a4a40a5405e4a7c6209508591819199ae8189ae816188a1919581011045818c284821a0a696cbb3a45801ec00858cc46285e48cc4bcf4d4148592f2cce4543d00');
INSERT INTO note_versions (note, number, began_at, ended_at, ended_by, change, reader, base, body) VALUES ('k-8', 2, '2026-04-02T12:00:00.000000+00:00', '2026-04-03T12:00:00.000000+00:00', 'aki', 'changed', 'aki', 1, x'0000000200000001a3bbed46c8b6732994038323352513a80e00');
INSERT INTO note_versions (note, number, began_at, ended_at, ended_by, change, reader, base, body) VALUES ('k-8', 3, '2026-04-03T12:00:00.000000+00:00', '2026-04-04T12:00:00.000000+00:00', 'aki', 'changed', NULL, 1, x'0000001c00000000ab86dbfeb47fc9e3c61685970b7bb0584ebe6dc6c8b6710100');
INSERT INTO note_versions (note, number, began_at, ended_at, ended_by, change, reader, base, body) VALUES ('k-9', 1, '2026-04-01T12:00:00.000000+00:00', '2026-04-01T12:00:00.000000+00:00', 'ben', 'deleted', NULL, NULL, x'ab562ac92cc94955b2527249cd492d494d51d2512a2d4e2d8acf4c018a25666702f9c945a9894099f8c412a09091819199ae8189ae816188a191958101104581f414a460516382a4a696ab383555213afad9b40d8f1ba73f6e6c79b9b027361600');
INSERT INTO supersessions (older, newer) VALUES ('k-2', 'k-7');
PRAGMA user_version = 7;
