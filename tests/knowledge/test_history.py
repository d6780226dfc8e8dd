"""Versions and the trash over HTTP, MCP and as use cases: who may see and restore what, and for how long."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from fastmcp import Client
from starlette.testclient import TestClient
from tests.fakes.embedders import HashingEmbedder
from tests.fakes.hashed_notes import page, store

from chie.access.identity import User, acting_as
from chie.app import create_app
from chie.cli import main
from chie.errors import ConflictError, ForbiddenError, NotFoundError
from chie.knowledge.anchors.anchor import Anchor, AnchorReport
from chie.knowledge.history.history import History, VersionHeading
from chie.knowledge.inbox.inbox import Inbox
from chie.knowledge.server import create_server
from chie.knowledge.service import KnowledgeService
from chie.knowledge.settings import KnowledgeSettings
from chie.knowledge.spaces.space import Space
from chie.knowledge.store.sqlite.store import SqliteStore

__all__ = ["page", "store"]

API = "/api/knowledge"
AKI, BEN, ADMIN = User("aki"), User("ben"), User("ops", admin=True)
START = datetime(2026, 4, 1, tzinfo=UTC)
MT1 = pytest.mark.req("MT-1")


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def skip(self, **span: float) -> None:
        self.now += timedelta(**span)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service(store: SqliteStore, clock: Clock) -> KnowledgeService:
    return KnowledgeService(store, clock=clock)


@pytest.fixture
def history(service: KnowledgeService) -> History:
    return History(service)


def made(versions: list[VersionHeading]) -> list[tuple[int, str, str]]:
    return [(one.version, one.kind, one.by) for one in versions]


@contextmanager
def refused(error: type[Exception], code: str) -> Iterator[None]:
    with pytest.raises(error) as raised:
        yield
    assert getattr(raised.value, "code", "") == code


@MT1
def test_history_over_http(page: TestClient) -> None:
    note_id = page.post(API, json={"content": "接続は 10 本まで", "tags": ["db"]}).json()["id"]
    changed = page.patch(f"{API}/{note_id}", json={"content": "接続は 20 本まで"}).json()
    assert changed["version"] == 2
    assert page.patch(f"{API}/{note_id}", json={"tags": ["db", "pool"], "title": "接続"}).json()["version"] == 3
    assert page.patch(f"{API}/{note_id}", json={"title": "接続"}).json()["version"] == 3
    page.put(f"{API}/{note_id}/confirmation")
    found = page.get(f"{API}/{note_id}/history").json()
    assert found["next_below"] is None
    listed = [(one["version"], one["kind"], one["changes"], one["current"]) for one in found["versions"]]
    assert listed == [
        (3, "changed", ["tags", "title"], True),
        (2, "changed", ["content", "title"], False),
        (1, "created", [], False),
    ]
    assert [one["length"] for one in found["versions"]] == [10, 10, 10]
    first, rest = (page.get(f"{API}/{note_id}/history", params=more).json() for more in ({"limit": 2}, {"below": 2}))
    assert [one["version"] for one in first["versions"] + rest["versions"]] == [3, 2, 1]
    assert (first["next_below"], rest["next_below"]) == (2, None)
    old = page.get(f"{API}/{note_id}/history/1").json()
    assert (old["content"], old["tags"]) == ("接続は 10 本まで", ["db"])
    assert page.get(f"{API}/{note_id}/history/3").json()["title"] == "接続"
    back = page.post(f"{API}/{note_id}/history/1/restore").json()
    assert (back["version"], back["tags"]) == (4, ["db"])
    note = page.get(f"{API}/{note_id}").json()
    assert (note["content"], note["title"]) == ("接続は 10 本まで", "接続は 10 本まで")
    assert page.get(f"{API}/{note_id}/history").json()["versions"][0]["kind"] == "restored"
    assert page.get(f"{API}/search", params={"q": "接続は 10 本まで"}).json()["hits"][0]["hit"]["id"] == note_id


@MT1
@pytest.mark.parametrize("version", ["9", "0", "-1", "x", str(2**40)])
def test_unknown_version_is_an_error(page: TestClient, version: str) -> None:
    note_id = page.post(API, json={"content": "one"}).json()["id"]
    for answer in (
        page.get(f"{API}/{note_id}/history/{version}"),
        page.post(f"{API}/{note_id}/history/{version}/restore"),
    ):
        assert answer.status_code == (404 if version == "9" else 400)
    assert page.get(f"{API}/k-unknown/history").status_code == 404


@MT1
def test_trash_over_http(page: TestClient) -> None:
    note = {"content": "Redis evicts sessions", "tags": ["redis"], "questions": ["Why are users logged out?"]}
    note_id = page.post(API, json=note).json()["id"]
    before = page.get(f"{API}/{note_id}").json()
    page.delete(f"{API}/{note_id}")
    found = page.get(f"{API}/trash").json()
    (listed,) = found["notes"]
    assert (listed["id"], listed["title"], found["days"]) == (note_id, before["title"], 30)
    assert page.get(f"{API}/trash/{note_id}").json() == before
    assert page.get(f"{API}/{note_id}").status_code == 404
    assert page.get(f"{API}/{note_id}/history").status_code == 404
    assert page.get(f"{API}/search", params={"q": "redis"}).json()["hits"] == []
    restored = page.post(f"{API}/trash/{note_id}/restore").json()
    assert {name: restored[name] for name in before if name in restored} == before
    again = page.get(f"{API}/{note_id}").json()
    assert {name: again[name] for name in before} == before
    assert page.get(f"{API}/search", params={"q": "users logged out"}).json()["hits"][0]["hit"]["id"] == note_id
    assert page.get(f"{API}/trash").json()["notes"] == []
    assert page.post(f"{API}/trash/{note_id}/restore").status_code == 404
    kinds = [one["kind"] for one in page.get(f"{API}/{note_id}/history").json()["versions"]]
    assert kinds == ["restored", "deleted", "created"]
    page.delete(f"{API}/{note_id}")
    assert page.delete(f"{API}/trash/{note_id}").json() == {"id": note_id, "purged": True}
    assert page.get(f"{API}/trash").json()["notes"] == []
    assert page.get(f"{API}/trash/{note_id}").json()["code"] == "knowledge.trashed_note_not_found"


@MT1
async def test_tools_say_which_version_they_made(store: SqliteStore) -> None:
    async with Client(create_server(store=store)) as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            return (await client.call_tool(tool, arguments)).structured_content or {}

        saved = await call("save_knowledge", content="one")
        assert saved["version"] == 1
        for version, text in ((2, "two"), (3, "three")):
            assert (await call("update_knowledge", id=saved["id"], content=text))["version"] == version
        assert (await call("update_knowledge", id=saved["id"], content="three"))["version"] == 3


@MT1
def test_a_version_is_shown_to_those_who_could_read_it(service: KnowledgeService, history: History) -> None:
    with acting_as(AKI):
        note_id = service.save("the merger is called 隼", private=True).id
        service.update(note_id, content="the merger is called kestrel")
        service.update(note_id, content="the merger is public", private=False)
        service.update(note_id, title="merger")
        assert made(history.versions(note_id).versions) == [
            (4, "changed", "aki"), (3, "changed", "aki"), (2, "changed", "aki"), (1, "created", "aki")
        ]  # fmt: skip
        assert history.version(note_id, 1).content == "the merger is called 隼"
    with acting_as(BEN):
        seen = history.versions(note_id).versions
        assert made(seen) == [(4, "changed", "aki"), (3, "changed", "aki")]
        assert seen[1].changes == []  # what it was before is not for ben
        assert history.version(note_id, 3).content == "the merger is public"
        for hidden in (1, 2):
            with refused(NotFoundError, "knowledge.version_not_found"):
                history.version(note_id, hidden)
    with acting_as(AKI):
        service.update(note_id, private=True)
    with acting_as(BEN), refused(NotFoundError, "knowledge.note_not_found"):
        history.version(note_id, 3)


@MT1
def test_a_proposal_stays_its_authors_after_it_was_accepted(service: KnowledgeService, history: History) -> None:
    with acting_as(AKI):
        note_id = service.save("raise client_max_body_size", proposal=True).id
    with acting_as(BEN):
        Inbox(service).accept(note_id)
        assert made(history.versions(note_id).versions) == [(2, "changed", "ben")]
    with acting_as(AKI):
        assert made(history.versions(note_id).versions) == [(2, "changed", "ben"), (1, "created", "aki")]


@MT1
def test_a_change_names_who_made_it(service: KnowledgeService, history: History) -> None:
    """Also a confirmation that moves the anchor, and a move."""
    service.store.spaces.save(Space(name="ops", everybody="write"))
    anchor = Anchor(repository="github.com/acme/shop", path="a.py", lines="1-2", commit="abc1234")
    with acting_as(AKI):
        note_id = service.save("one", anchor=anchor).id
    report = AnchorReport(
        state="changed", detail="edited", path="b.py", lines="3-4", commit="def5678", committed_at=START,
        reported_by="ci", reported_at=START,
    )  # fmt: skip
    service.store.report_anchors({note_id: (anchor, report)})
    with acting_as(BEN):
        assert service.confirm(note_id).anchor == replace(anchor, path="b.py", lines="3-4", commit="def5678")
    with acting_as(ADMIN):
        service.update(note_id, space="ops")
        assert made(history.versions(note_id).versions) == [
            (3, "moved", "ops"), (2, "changed", "ben"), (1, "created", "aki")
        ]  # fmt: skip


@MT1
def test_restoring_needs_permission_and_keeps_who_may_read(service: KnowledgeService, history: History) -> None:
    with acting_as(AKI):
        note_id = service.save("one").id
        service.update(note_id, content="two", private=True)
        assert history.restore_version(note_id, 1).version == 3
        assert (service.get(note_id).content, service.get(note_id).private) == ("one", True)
        service.update(note_id, private=False)
    for forbidden in (
        lambda: history.restore_version(note_id, 1),
        lambda: history.forget(note_id),
        lambda: service.delete(note_id),
    ):
        with acting_as(BEN), refused(ForbiddenError, "knowledge.note_forbidden"):
            forbidden()
    with acting_as(ADMIN):
        history.restore_version(note_id, 1)
        note = service.get(note_id)
        assert (note.user_id, note.confirmed_by) == ("aki", "ops")


@MT1
def test_earlier_versions_are_deleted_for_good(service: KnowledgeService, history: History) -> None:
    with acting_as(AKI):
        note_id = service.save("the key is in the safe").id
        service.update(note_id, content="ask ben for the key")
        history.forget(note_id)
        assert made(history.versions(note_id).versions) == [(1, "created", "aki")]
        assert service.get(note_id).content == "ask ben for the key"


@MT1
def test_whose_notes_are_in_the_trash(service: KnowledgeService, history: History) -> None:
    with acting_as(AKI):
        ids = [service.save(text, private=text == "private").id for text in ("private", "shared")]
        for note_id in ids:
            service.delete(note_id)
        assert [one.id for one in history.trash()] == [ids[1], ids[0]]
    with acting_as(BEN):
        assert [one.id for one in history.trash()] == [ids[1]]
        for act in (history.trashed, history.restore_trashed, history.purge):
            with refused(NotFoundError, "knowledge.trashed_note_not_found"):
                act(ids[0])
        for act in (history.restore_trashed, history.purge):
            with refused(ForbiddenError, "knowledge.note_forbidden"):
                act(ids[1])
    with acting_as(ADMIN):
        history.purge(ids[1])
        with refused(NotFoundError, "knowledge.trashed_note_not_found"):
            history.purge(ids[0])


@MT1
def test_the_trash_keeps_notes_for_some_days(service: KnowledgeService, history: History, clock: Clock) -> None:
    old, new = (service.save(text).id for text in ("old", "new"))
    service.delete(old)
    clock.skip(days=20)
    service.delete(new)
    assert [one.id for one in history.trash()] == [new, old]
    assert (history.trash()[1].expires_at - history.trash()[1].deleted_at).days == 30
    clock.skip(days=10)
    assert [one.id for one in history.trash()] == [new]
    with refused(NotFoundError, "knowledge.trashed_note_not_found"):
        history.restore_trashed(old)
    assert service.store.versions(old, limit=1)
    service.save("a write empties it")
    assert not service.store.versions(old, limit=1)
    assert service.store.versions(new, limit=1)


@MT1
def test_a_trash_of_no_days_keeps_nothing(store: SqliteStore) -> None:
    service = KnowledgeService(store, trash_days=0)
    note_id = service.save("gone at once").id
    service.delete(note_id)
    assert History(service).trash() == []
    assert not store.versions(note_id, limit=1)


@MT1
def test_a_deletion_is_undone_with_the_note_itself(service: KnowledgeService, history: History) -> None:
    """As the page's Undo does it."""
    note = service.get(service.save("one").id)
    service.delete(note.id)
    service.restore(note)
    assert history.trash() == []
    assert [one.kind for one in history.versions(note.id).versions] == ["restored", "deleted", "created"]
    with pytest.raises(ConflictError):
        service.restore(note)


@MT1
def test_setting_of_the_trash(monkeypatch: pytest.MonkeyPatch, store: SqliteStore) -> None:
    monkeypatch.setenv("CHIE_TRASH_DAYS", "7")
    assert KnowledgeSettings().trash_days == 7
    with TestClient(create_app({"knowledge": create_server(store=store)}), base_url="http://127.0.0.1:8080") as page:
        assert page.get(f"{API}/trash").json() == {"notes": [], "days": 7}


def chie(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@MT1
def test_history_and_trash_on_the_command_line(home: Path) -> None:
    note_id = json.loads(chie("notes", "save", "接続は 10 本まで", "--json").output)["id"]
    with_store(home, lambda service: service.update(note_id, content="接続は 20 本まで"))
    lines = chie("notes", "history", note_id).output.splitlines()
    assert [line.split()[0] for line in lines] == ["2", "1"]
    assert lines[0].endswith("(content, title)  current")
    assert "More: chie notes history" in chie("notes", "history", note_id, "--limit", "1").output
    assert len(json.loads(chie("notes", "history", note_id, "--json").output)["versions"]) == 2
    assert "接続は 10 本まで" in chie("notes", "history", note_id, "--version", "1").output
    assert json.loads(chie("notes", "history", note_id, "--version", "1", "--json").output)["id"] == note_id
    assert f"Restored version 1 of {note_id} as version 3" in chie("notes", "restore", note_id, "--version", "1").output
    assert "no version 9" in chie("notes", "restore", note_id, "--version", "9").output
    assert chie("notes", "trash").output == "The trash is empty.\n"
    chie("notes", "delete", note_id)
    assert note_id in chie("notes", "trash").output
    assert json.loads(chie("notes", "trash", "--json").output)[0]["id"] == note_id
    assert chie("notes", "restore", note_id).output.startswith(f"Restored {note_id}")
    missing = chie("notes", "restore", note_id)
    assert (missing.exit_code, "is in the trash" in missing.output) == (1, True)
    assert chie("notes", "purge", note_id, "--history", "--yes").exit_code == 0
    assert len(chie("notes", "history", note_id).output.splitlines()) == 1
    chie("notes", "delete", note_id)
    assert chie("notes", "purge", note_id).exit_code == 1  # nobody confirmed
    assert chie("notes", "purge", note_id, "--yes").exit_code == 0
    assert chie("notes", "trash").output == "The trash is empty.\n"


def with_store(home: Path, work: Callable[[KnowledgeService], object]) -> None:
    store = SqliteStore(home / "chie.db", HashingEmbedder())
    work(KnowledgeService(store))
    store.close()


@MT1
@pytest.mark.usefixtures("home")
def test_importing_an_edited_file_makes_a_version_and_a_dry_run_says_so(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "計画.md").write_text("the plan, 初版", encoding="utf-8")
    (vault / "same.md").write_text("unchanged")
    assert "2 saved, 0 unchanged" in chie("notes", "import", str(vault)).output
    (vault / "計画.md").write_text("the plan, 改訂版", encoding="utf-8")
    (vault / "new.md").write_text("new")
    dry = chie("notes", "import", "--dry-run", str(vault)).output
    assert "2 would be saved (1 new, 1 changed), 1 unchanged, 0 rejected" in dry
    assert f"  new  {vault / 'new.md'}" in dry
    assert f"  changed  {vault / '計画.md'}" in dry
    assert "same.md" not in dry
    assert "2 saved (1 new, 1 changed), 1 unchanged" in chie("notes", "import", str(vault)).output
    listed = json.loads(chie("notes", "list", "--json").output)["notes"]
    (plan,) = [note["id"] for note in listed if note["title"].startswith(("計画", "the plan"))]
    versions = json.loads(chie("notes", "history", plan, "--json").output)["versions"]
    assert [one["version"] for one in versions] == [2, 1]
    assert "初版" in chie("notes", "history", plan, "--version", "1").output
