"""Databases of notes as released versions stored them."""

import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg

from chie.knowledge.anchors.anchor import Anchor
from chie.knowledge.history.versions import Change
from chie.knowledge.note import ImportedFile, Note
from chie.knowledge.spaces.space import Space
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
# With links, an anchor, a space, what it supersedes, and earlier versions, one of them private.
SPACE = Space(name="infra", title="基盤", grants={"aki": "write"})
LINKING = Note(
    id="k-7",
    title="リンク集",
    content="See [[検索の障害|search]], [[古い 題]], [[Secret name]], note://k-1 and `[[Not a link]]`.",
    supersedes=["k-2"],
    anchor=Anchor(repository="github.com/org/repo", path="src/a.py", lines="1-2", commit="a" * 40),
    space="infra",
    user_id="aki",
    created_at=MOMENT,
    updated_at=MOMENT,
)
RENAMED = Note(
    id="k-8",
    title="新しい題",
    content="Its title has changed twice.",
    user_id="aki",
    created_at=MOMENT,
    updated_at=MOMENT + timedelta(days=3),
)
SECRET = replace(RENAMED, title="Secret Name", private=True, updated_at=MOMENT)
RENAMED_BEFORE = [
    SECRET,
    replace(SECRET, content="It was edited.", updated_at=MOMENT + timedelta(days=1)),
    replace(RENAMED, title="古い 題", updated_at=MOMENT + timedelta(days=2)),
]
TRASHED = replace(RENAMED, id="k-9", title="Deleted", content="see [[新しい題]]")
FIRST_WITH_LONG_NOTE = {"sqlite": 4, "postgresql": 3}  # versions
FIRST_WITH_PROPOSAL = {"sqlite": 6, "postgresql": 5}
FIRST_WITH_VERSIONS = {"sqlite": 7, "postgresql": 6}


def notes_of(kind: str, version: int) -> list[Note]:
    """The notes in a layout, of SQLite or PostgreSQL."""
    notes = list(NOTES)
    if version >= FIRST_WITH_LONG_NOTE[kind]:
        notes.append(LONG_NOTE)
    if has_recall(kind, version):
        notes.append(PROPOSAL)
    if has_versions(kind, version):
        notes += [LINKING, RENAMED]
    return notes


def has_recall(kind: str, version: int) -> bool:
    """Whether the layout has the tables of the memory loop, with a proposal, its file and what a session was shown."""
    return version >= FIRST_WITH_PROPOSAL[kind]


def has_versions(kind: str, version: int) -> bool:
    """Whether the layout has earlier versions, a deleted note and a space."""
    return version >= FIRST_WITH_VERSIONS[kind]


def fill_with_versions(store: NoteStore) -> None:
    """As the layouts with versions were made."""
    store.spaces.save(SPACE)
    for note in [*NOTES, LONG_NOTE, PROPOSAL, LINKING, TRASHED]:
        store.save(note)
    store.remember_files({"k-6": IMPORTED})
    store.remember_shown("session-1", ["k-1"], at=MOMENT, forget_before=MOMENT)
    before, *later = [*RENAMED_BEFORE, RENAMED]
    store.save(before)
    for note in later:
        store.save(note, replacing=before, change=Change(by="aki", at=note.updated_at))
        before = note
    store.delete("k-9", change=Change(kind="deleted", by="ben", at=MOMENT))


def assert_versions_and_links(upgraded: NoteStore) -> None:
    """What `fill_with_versions` stored is there, and links are found although no layout has had a table of them."""
    aki, ben = Viewer("aki", frozenset({"team", "infra"})), Viewer("ben")
    assert SPACE in upgraded.spaces.all()
    assert [one.note for one in upgraded.versions("k-8", limit=9)] == list(reversed(RENAMED_BEFORE))
    assert [one.note for one in upgraded.trash(viewer=ben, after=MOMENT - timedelta(1), limit=9)] == [TRASHED]
    assert upgraded.superseding(["k-2"]) == {"k-2": ["k-7"]}
    targets = ["検索の障害", "古い 題", "secret name", "note://k-1", "not a link", "deleted"]
    resolved = {target: link.id for target, link in upgraded.resolve_links(targets, viewer=aki).items()}
    assert resolved == {"検索の障害": "k-2", "古い 題": "k-8", "secret name": "k-8", "note://k-1": "k-1"}
    assert set(upgraded.resolve_links(targets, viewer=ben)) == {"検索の障害", "古い 題", "note://k-1"}
    assert {target for _, target in upgraded.link_rows(viewer=aki, limit=9)} == set(resolved)
    assert [one.id for one in upgraded.linking(["古い 題"], viewer=aki, limit=9)] == ["k-7"]
    assert upgraded.linking(["古い 題"], viewer=ben, limit=9) == []
    assert upgraded.former_titles("k-8", viewer=ben) == ["古い 題"]


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
