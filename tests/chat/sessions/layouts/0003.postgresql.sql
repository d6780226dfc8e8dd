-- A database of conversations as schema 0003 left it, on PostgreSQL.
CREATE TABLE sessions (
    id VARCHAR(36) NOT NULL,
    title TEXT NOT NULL,
    folded TEXT NOT NULL,
    current_agent_id TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    user_id TEXT DEFAULT 'anonymous' NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX sessions_by_age ON sessions (updated_at, id);
CREATE INDEX sessions_by_user ON sessions (user_id, updated_at, id);
CREATE TABLE messages (
    seq BIGSERIAL NOT NULL,
    id VARCHAR(36) NOT NULL,
    session_id VARCHAR(36) NOT NULL,
    parent_id VARCHAR(36),
    role VARCHAR(16) NOT NULL,
    content TEXT NOT NULL,
    folded TEXT NOT NULL,
    agent_id TEXT,
    status VARCHAR(16) NOT NULL,
    error TEXT,
    parts TEXT,
    input_tokens INTEGER,
    output_tokens INTEGER,
    last_event_id INTEGER NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    owner TEXT,
    alive_at TIMESTAMP WITH TIME ZONE,
    PRIMARY KEY (seq),
    UNIQUE (id),
    FOREIGN KEY(session_id) REFERENCES sessions (id) ON DELETE CASCADE,
    FOREIGN KEY(parent_id) REFERENCES messages (id) ON DELETE CASCADE
);
CREATE INDEX messages_by_parent ON messages (parent_id);
CREATE INDEX messages_by_session ON messages (session_id, seq);
CREATE INDEX messages_by_status ON messages (status);
CREATE TABLE answer_orders (
    seq BIGSERIAL NOT NULL,
    id VARCHAR(36) NOT NULL,
    message_id VARCHAR(36) NOT NULL,
    wish VARCHAR(16) NOT NULL,
    call_id TEXT,
    outcome VARCHAR(32),
    reply TEXT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    PRIMARY KEY (seq),
    UNIQUE (id),
    FOREIGN KEY(message_id) REFERENCES messages (id) ON DELETE CASCADE
);
CREATE INDEX answer_orders_by_message ON answer_orders (message_id);
CREATE TABLE message_events (
    message_id VARCHAR(36) NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (message_id, first),
    FOREIGN KEY(message_id) REFERENCES messages (id) ON DELETE CASCADE
);
CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO alembic_version VALUES ('0003');
INSERT INTO sessions (id, title, folded, current_agent_id, created_at, updated_at, user_id) VALUES ('s', '障害', '障害', 'assistant', '2026-01-01 00:00:00', '2026-01-01 00:01:00', 'yuki');
INSERT INTO messages (id, session_id, parent_id, role, content, folded, agent_id, status, error, parts, input_tokens, output_tokens, last_event_id, created_at, owner, alive_at) VALUES ('q', 's', NULL, 'user', '原因は？', '原因は?', NULL, 'complete', NULL, NULL, NULL, NULL, 0, '2026-01-01 00:00:00', NULL, '2026-01-01 00:00:00');
INSERT INTO messages (id, session_id, parent_id, role, content, folded, agent_id, status, error, parts, input_tokens, output_tokens, last_event_id, created_at, owner, alive_at) VALUES ('a', 's', 'q', 'assistant', 'So far ', 'so far ', 'assistant', 'failed', 'The model answered nothing.', NULL, NULL, NULL, 3, '2026-01-01 00:00:01', NULL, NULL);
INSERT INTO messages (id, session_id, parent_id, role, content, folded, agent_id, status, error, parts, input_tokens, output_tokens, last_event_id, created_at, owner, alive_at) VALUES ('b', 's', 'q', 'assistant', '', '', 'assistant', 'streaming', NULL, NULL, NULL, NULL, 0, '2026-01-01 00:01:00', 'host/1/1/aa', '2026-01-01 00:01:00');
INSERT INTO message_events (message_id, first, last, data) VALUES ('a', 1, 3, '["So far ", {"type": "error", "error": "The model answered nothing."}, {"type": "done", "message_id": null}]');
INSERT INTO message_events (message_id, first, last, data) VALUES ('b', 1, 1, '["Again "]');
INSERT INTO answer_orders (id, message_id, wish, call_id, outcome, reply, created_at) VALUES ('o', 'b', 'stop', NULL, NULL, NULL, '2026-01-01 00:01:01');
