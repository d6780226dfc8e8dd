"""What is deleted for good is nowhere any more: in no table, not in the file, and in no backup made from then on."""

import json
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient
from tests.contract.note_review import records_of
from tests.fakes.both_databases import OpenStore, open_store, server, store
from tests.fakes.embedders import HashingEmbedder

from chie.app import create_app
from chie.cli import main
from chie.knowledge.history.versions import Change
from chie.knowledge.note import now
from chie.knowledge.records import RecordedSearch
from chie.knowledge.review.findings import FoundPair
from chie.knowledge.server import create_server
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store import versioned
from chie.knowledge.store.postgres.store import PostgresStore
from chie.knowledge.store.sql_store import SqlNoteStore
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.knowledge.viewer import ANYBODY

__all__ = ["open_store", "server", "store"]

API = "/api/knowledge"
HOOKS = "/hooks/claude-code"


@pytest.fixture
def secret() -> str:
    """One token in any index, the same in lower case and in JSON."""
    return f"zq{token_hex(8)}"


def open_page(store: SqlNoteStore) -> TestClient:
    return TestClient(create_app({"knowledge": create_server(store=store)}), base_url="http://127.0.0.1:8080")


@pytest.fixture
def page(store: SqlNoteStore) -> Iterator[TestClient]:
    with open_page(store) as client:
        yield client


class Team:
    """Uses every feature that copies what a note says."""

    def __init__(self, page: TestClient, store: SqlNoteStore, secret: str) -> None:
        self.page, self.store, self.secret = page, store, secret
        self.ids: list[str] = []

    def ask(self, method: str, path: str, **options: Any) -> Any:
        done = self.page.request(method, path, **options)
        assert done.status_code < 300, (path, done.text)
        return done.json() if done.content else None

    def save(self, content: str, **fields: Any) -> str:
        found = str(self.ask("POST", API, json={"content": content, **fields})["id"])
        self.ids.append(found)
        return found

    def finding(self, one: str, other: str) -> str:
        """With a quotation, as a scan leaves it."""
        first, second = sorted((one, other))
        pair = FoundPair(
            a=first, b=second, kind="contradiction", probability=0.9, reason="name", here=self.secret, there="else"
        )
        records_of(self.store).store_pairs({first: "v", second: "v"}, [pair])
        return f"contradiction:{first}:{second}"

    def decide(self, finding: str, action: str, **choice: Any) -> str:
        body = {"finding": finding, "action": action, **choice}
        return str(self.ask("POST", f"{API}/review/decisions", json=body)["id"])

    def live(self) -> None:
        secret = self.secret
        self.ask("PUT", f"{API}/recording", json={"recording": True})
        self.ask("GET", f"{API}/search", params={"q": f"the {secret} of the safe"})  # which nothing answers yet
        words = f"the {secret} of the safe is kept in the attic"
        note = self.save(
            words, title=f"Safe {secret}", tags=[secret], source=f"{secret}.py", questions=[f"Where is {secret}?"]
        )
        other = self.save(f"the safe is elsewhere, not with {secret}")
        self.ask("PATCH", f"{API}/{note}", json={"content": f"{words}, behind the mirror"})
        self.ask("PATCH", f"{API}/{note}", json={"anchor": {"repository": "a.example/b", "path": f"{secret}.py"}})
        self.ask("GET", f"{API}/search", params={"q": f"safe {secret}"})
        self.ask("GET", f"{API}/{note}")
        self.store.records.record_search(
            "anonymous",
            RecordedSearch(query=f"safe {secret}", note=note, at=KnowledgeService(self.store).trash_begins()),
        )
        self.ask("PUT", f"{API}/{note}/mark", json={"mark": "helpful"})
        hook = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": f"where is the {secret} safe?"}
        self.ask("POST", HOOKS, json=hook)
        earlier = KnowledgeService(self.store).trash_begins()
        self.store.remember_shown("s", [note], at=earlier, forget_before=earlier)
        self._review(note, other)
        self._inbox(note)
        self.save(f"newer than {secret}", supersedes=[other])
        file = f"---\ntags: [x]\n---\n# {secret}\n\nimported {secret}".encode()
        self.ask("POST", f"{API}/import", files={"files": (f"{secret}.md", file, "text/markdown")})

    def _review(self, note: str, other: str) -> None:
        for action in ("keep", "dismiss"):
            self.ask("DELETE", f"{API}/review/decisions/{self.decide(self.finding(note, other), action)}")
        merged = self.decide(self.finding(note, other), "merge", note=note, content=f"both {self.secret}")
        self.ask("DELETE", f"{API}/review/decisions/{merged}")
        archived = self.decide(self.finding(note, other), "archive", note=other)
        self.ask("DELETE", f"{API}/review/decisions/{archived}")
        self.decide(self.finding(note, other), "keep")  # stays decided

    def _inbox(self, note: str) -> None:
        service = KnowledgeService(self.store)
        for decision in ("merge", "reject", "accept"):
            proposal = service.save(f"{decision} {self.secret}", proposal=True).id
            self.ids.append(proposal)
            body = {"into": note, "content": f"merged {self.secret}"} if decision == "merge" else {}
            self.ask("POST", f"{API}/inbox/{proposal}/{decision}", json=body)
            self.ask("POST", f"{API}/inbox/{proposal}/undo")
            self.ask("POST", f"{API}/inbox/{proposal}/{decision}", json=body)

    def purge(self) -> None:
        listed = self.ask("GET", API, params={"limit": 100})["notes"]
        for note in {one["id"] for one in listed}:
            self.ask("DELETE", f"{API}/{note}")
        for trashed in self.ask("GET", f"{API}/trash")["notes"]:
            self.ask("DELETE", f"{API}/trash/{trashed['id']}")


def everything_in(store: SqlNoteStore) -> str:
    """All rows of all tables, and the earlier versions of notes in plain text."""
    kept = store.walk_versions(after=None, limit=10_000)
    versions = [repr(one) for row in kept for one in store.versions(row.note, limit=1_000)]
    return "\n".join([*versions, *store._read(_rows_of(store))])


def _rows_of(store: SqlNoteStore) -> Callable[[Any], list[str]]:
    tables = "SELECT name FROM sqlite_master WHERE type = 'table'"
    if isinstance(store, PostgresStore):
        tables = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"

    def read(connection: Any) -> list[str]:
        names = [row[0] for row in connection.execute(tables).fetchall()]
        assert len(names) > 15
        selected = [(name, f'SELECT * FROM "{name}"') for name in names]  # noqa: S608 - names of tables
        return [f"{name} {row}" for name, select in selected for row in connection.execute(select).fetchall()]

    return read


def lines_with(secret: str, text: str) -> list[str]:
    return [line[:300] for line in text.splitlines() if secret in line]


@pytest.mark.req("MT-1")
def test_a_note_that_is_deleted_for_good_is_in_no_table(
    page: TestClient, store: SqlNoteStore, secret: str, home: Path
) -> None:
    team = Team(page, store, secret)
    team.live()
    copied = {line.split()[0] for line in lines_with(secret, everything_in(store))}
    assert len(copied) > 5, "otherwise this test would copy nothing"
    team.purge()
    assert lines_with(secret, everything_in(store)) == []
    if isinstance(store, SqliteStore):
        for file in home.glob("notes.db*"):
            assert secret.encode() not in file.read_bytes(), file


@pytest.mark.req("MT-1")
def test_what_is_deleted_with_the_history_of_a_note_is_in_no_table(
    page: TestClient, store: SqlNoteStore, secret: str
) -> None:
    """The note stays, and so does what was decided on it."""
    team = Team(page, store, secret)
    note, other = team.save(f"the key is {secret}"), team.save("the key is in the attic")
    decided = team.decide(team.finding(note, other), "keep")
    proposal = KnowledgeService(store).save("in the blue box", proposal=True).id
    team.ask("POST", f"{API}/inbox/{proposal}/merge", json={"into": note, "content": "the key is in the blue box"})
    team.ask("PATCH", f"{API}/{note}", json={"title": "key"})
    team.ask("PUT", f"{API}/{note}/mark", json={"mark": "helpful"})
    assert lines_with(secret, everything_in(store))
    team.ask("DELETE", f"{API}/{note}/history")
    assert lines_with(secret, everything_in(store)) == []
    assert records_of(store).review_decision(decided) is not None
    assert team.ask("GET", f"{API}/{note}")["mark"] == "helpful"
    undone = page.post(f"{API}/inbox/{proposal}/undo")
    assert (undone.status_code, undone.json()["code"]) == (409, "knowledge.decision_outdated")


@pytest.mark.req("MT-1")
def test_no_decision_brings_back_what_was_deleted_for_good(page: TestClient, store: SqlNoteStore) -> None:
    team = Team(page, store, "any")
    note, other = team.save("the limit is 30 s"), team.save("the limit is 60 s")
    archived = team.decide(team.finding(note, other), "archive", note=note)
    proposal = KnowledgeService(store).save("raise the limit", proposal=True).id
    team.ask("POST", f"{API}/inbox/{proposal}/reject")
    for gone in (note, proposal):
        team.ask("DELETE", f"{API}/trash/{gone}")
    refused = page.delete(f"{API}/review/decisions/{archived}")
    assert (refused.status_code, refused.json()["code"]) == (409, "knowledge.review_changed_since")
    assert page.post(f"{API}/inbox/{proposal}/undo").status_code == 404
    assert (store.get(note), store.get(proposal)) == (None, None)


@pytest.mark.req("MT-1")
def test_trash_that_expires_takes_everything_with_it(
    store: SqlNoteStore, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more notes than one transaction deletes, with the writes that follow."""
    monkeypatch.setattr(versioned, "PURGE_SIZE", 2)
    service = KnowledgeService(store)
    for number in range(3):
        note = service.save(f"{secret} {number}")
        store.delete(note.id, change=Change(kind="deleted", by="aki", at=service.trash_begins() - timedelta(days=1)))
    store.records.agree("aki", recording=True)
    records_of(store).add_unanswered("aki", f"{secret} 1", now())
    records_of(store).add_unanswered("aki", "something else", now())
    KnowledgeService(store).save("a later write")
    KnowledgeService(store).save("another one")
    assert lines_with(secret, everything_in(store)) == []
    assert [one.query for one in records_of(store).unanswered("aki")] == ["something else"]


@pytest.mark.req("MT-1")
def test_a_backup_has_nothing_that_was_deleted_for_good(home: Path, tmp_path: Path, secret: str) -> None:
    with closing(SqliteStore(home / "chie.db", HashingEmbedder())) as store, open_page(store) as page:
        team = Team(page, store, secret)
        team.live()
        assert secret.encode() in _backup(tmp_path / "before.zip")
        team.purge()
        assert secret.encode() not in _backup(tmp_path / "after.zip")


def _backup(file: Path) -> bytes:
    made = CliRunner().invoke(main, ("backup", str(file)))
    assert made.exit_code == 0, made.output
    with zipfile.ZipFile(file) as archive:
        return b"\n".join(archive.read(name) for name in archive.namelist() if "audit" not in name)


@pytest.mark.req("MT-1")
def test_decisions_of_an_earlier_version_lose_their_texts_and_hold(
    open_store: OpenStore, store: SqlNoteStore, page: TestClient, secret: str
) -> None:
    team = Team(page, store, secret)
    note, other = team.save("the limit is 30 s"), team.save("the limit is 60 s")
    decided = team.decide(team.finding(note, other), "keep")
    prefix = "knowledge_" if isinstance(store, PostgresStore) else ""
    stored = page.get(f"{API}/{note}").json() | {"content": secret}
    before = {"id": decided, "finding": team.finding(note, other), "action": "keep", "by": "anonymous"}
    before |= {"fingerprint": f"name {secret}|else", "at": stored["created_at"]}
    rows = {
        "UPDATE review_decisions SET fingerprint = ?, decision = ?": (
            before["fingerprint"],
            json.dumps({**before, "before": [stored], "after": [stored]}),
        ),
        "INSERT INTO decisions VALUES (?, ?, ?)": ("k-1", "2026", json.dumps({"proposal": stored, "by": "aki"})),
        "UPDATE notes SET folded_title = ?": ("former",),
        "UPDATE schema SET version = 7" if prefix else "PRAGMA user_version = 8": (),
    }

    def write_as_before(connection: Any) -> None:
        for statement, values in rows.items():
            renamed = re.sub("(UPDATE|INTO) ", rf"\1 {prefix}", statement)
            connection.execute(renamed.replace("?", "%s") if prefix else renamed, values)

    store._change(write_as_before)
    with closing(open_store()) as upgraded, open_page(upgraded) as later:
        team.finding(note, other)
        assert later.get(f"{API}/review/count").json()["total"] == 0
        assert lines_with(secret, "\n".join(upgraded._read(_without_pairs(upgraded)))) == []
        assert later.delete(f"{API}/review/decisions/{decided}").status_code == 409
        titles = {"the limit is 30 s", "the limit is 60 s"}
        assert set(upgraded.resolve_links(list(titles), viewer=ANYBODY)) == titles


def _without_pairs(store: SqlNoteStore) -> Callable[[Any], list[str]]:
    return lambda connection: [row for row in _rows_of(store)(connection) if "review_pairs" not in row.split()[0]]
