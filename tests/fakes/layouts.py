"""Databases of notes as released versions stored them."""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from chie.knowledge.note import ImportedFile, Note
from chie.knowledge.store.base import NoteStore
from chie.knowledge.viewer import Viewer

LAYOUTS = Path(__file__).parent.parent / "knowledge" / "layouts"
MOMENT = datetime(2026, 4, 1, 12, tzinfo=UTC)

# Longer than a passage, with a code fence that later rules of splitting leave whole.
LONG = "\n\n".join(
    [
        "# 復旧の手順 after a failed deploy",
        *(
            f"## 段階 {n}\n\n担当者は状態を確認し、ログを保存する。Check replica {n} before anything else. " * 3
            for n in range(8)
        ),
        "```sh\n" + "\n".join(f"systemctl restart worker-{n}.service" for n in range(20)) + "\n```",
        "最後に監視を再開し、結果を記録する。Write down what was wrong.",
    ]
)

# The notes in every layout.
NOTES = [
    Note(
        id="k-1",
        title="nginx answers 413 when client_",
        content="nginx answers 413 when client_max_body_size is too small",
        tags=["nginx"],
        source="https://example.com/x",
        user_id="aki",
        created_at=MOMENT,
        updated_at=MOMENT,
    ),
    Note(
        id="k-2",
        title="検索の障害",
        content="検索の結果が空になる。索引を作り直すと直った。",
        tags=["検索"],
        user_id="ben",
        origin="person",
        confirmed_by="ben",
        confirmed_at=MOMENT,
        created_at=MOMENT,
        updated_at=MOMENT,
    ),
    Note(
        id="k-3",
        title="redis redis evicts the session",
        content="redis redis evicts the sessions of 花子 at night",
        tags=["Redis", "秘密"],
        private=True,
        user_id="aki",
        created_at=MOMENT,
        updated_at=MOMENT,
    ),
    Note(
        id="k-4",
        title="the codename of the merger is ",
        content="the codename of the merger is kestrel",
        private=True,
        user_id="ben",
        created_at=MOMENT,
        updated_at=MOMENT,
    ),
]

LONG_NOTE = Note(
    id="k-5",
    title="復旧の手順",
    content=LONG,
    tags=["deploy"],
    user_id="aki",
    created_at=MOMENT,
    updated_at=MOMENT,
)
# With every field of the memory loop, imported from a file.
PROPOSAL = Note(
    id="k-6",
    title="電源が落ちる / Power supply",
    content="The server loses power when the UPS battery is older than four years. 交換が必要。",
    tags=["Power", "電源"],
    source="docs/power.md:12-20",
    status="draft",
    user_id="ben",
    origin="hook",
    proposal=True,
    questions=["なぜサーバーが落ちる?", "Why does the server lose power?"],
    signatures=["ups <n>: battery low"],
    created_at=MOMENT,
    updated_at=MOMENT,
)
IMPORTED = ImportedFile(vault="docs", path="power.md", fingerprint="5f2c", version=MOMENT)
SHOWN = {"session-1": "k-1"}
FIRST_WITH_LONG_NOTE = {"sqlite": 4, "postgresql": 3}  # versions
FIRST_WITH_PROPOSAL = {"sqlite": 6, "postgresql": 5}


def notes_of(kind: str, version: int) -> list[Note]:
    """The notes in a layout, of SQLite or PostgreSQL."""
    notes = list(NOTES)
    if version >= FIRST_WITH_LONG_NOTE[kind]:
        notes.append(LONG_NOTE)
    if has_recall(kind, version):
        notes.append(PROPOSAL)
    return notes


def has_recall(kind: str, version: int) -> bool:
    """Whether the layout has the tables of the memory loop, with a proposal, its file and what a session was shown."""
    return version >= FIRST_WITH_PROPOSAL[kind]


def load_sqlite(path: Path, version: int) -> None:
    """Version 1 had no private notes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.executescript((LAYOUTS / f"{max(version, 2)}.sqlite.sql").read_text(encoding="utf-8"))
    if version == 1:
        connection.execute("DELETE FROM notes WHERE private")
        connection.execute("DROP INDEX private_notes")
        connection.execute("ALTER TABLE notes DROP COLUMN private")
        connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()


def assert_same_results(upgraded: NoteStore, new: NoteStore) -> None:
    """A search in an upgraded store finds what it finds in a new store with the same notes."""
    for viewer in ("aki", "ben", "root"):
        for query in (
            "redis sessions 花子",
            "kestrel",
            "検索",
            "nginx 413",
            "the",
            "systemctl restart worker-7",
            "監視を再開",
        ):
            found, expected = (
                store.search(query, limit=9, tags=(), viewer=Viewer(viewer)) for store in (upgraded, new)
            )
            assert found == expected, (viewer, query)


def load_postgres(url: str, version: int) -> None:
    with psycopg.connect(url) as connection:
        connection.execute((LAYOUTS / f"{version}.postgresql.sql").read_text(encoding="utf-8"))
