"""Supersession and search as of a date, over HTTP, MCP, hooks, files and the command line."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from fastmcp import Client
from starlette.testclient import TestClient
from tests.contract.note_store import a_note
from tests.fakes.hashed_notes import page, store

from chie.access.identity import User, acting_as
from chie.cli import main
from chie.errors import ForbiddenError, ValidationError
from chie.knowledge.history import as_of
from chie.knowledge.markdown import note_file
from chie.knowledge.note import NoteLink
from chie.knowledge.recall.recall import Recall
from chie.knowledge.server import create_server
from chie.knowledge.service import KnowledgeService
from chie.knowledge.spaces.space import Space
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.knowledge.viewer import Viewer
from chie.messages.catalogue import Message

__all__ = ["page", "store"]

API = "/api/knowledge"
AKI, BEN = User("aki"), User("ben")
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
OLD, NEW = "Connections are limited to 10 per worker 接続数", "Connections are limited to 20 per worker 接続数"
MT2 = pytest.mark.req("MT-2")


class Clock:
    now = START

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service(store: SqliteStore, clock: Clock) -> KnowledgeService:
    return KnowledgeService(store, clock=clock)


@contextmanager
def refused(error: type[Exception], code: str) -> Iterator[None]:
    with pytest.raises(error) as raised:
        yield
    assert getattr(raised.value, "code", "") == code


def found(service: KnowledgeService, query: str, **options: Any) -> list[str]:
    return [hit.id for hit in service.search(query, **options).hits]


@MT2
def test_a_search_leaves_superseded_notes_out(service: KnowledgeService) -> None:
    old = service.save(OLD).id
    assert found(service, OLD) == [old]
    new = service.save(NEW, supersedes=[old], title="limit").id
    assert found(service, OLD) == [new]
    assert service.superseded_by(old) == [NoteLink(id=new, title="limit")]
    service.update(new, supersedes=[])
    assert set(found(service, OLD)) == {old, new}
    service.update(new, supersedes=[old])
    service.delete(new)
    assert found(service, OLD) == [old]


@MT2
def test_a_superseded_note_is_found_if_nothing_else_fits(service: KnowledgeService) -> None:
    old = service.save(OLD).id
    new = service.save("pgbouncer pools them", title="pool", supersedes=[old]).id
    hits = service.search(OLD).hits
    assert [(hit.id, hit.superseded_by) for hit in hits][-1] == (old, [NoteLink(id=new, title="pool")])
    assert found(service, "Connections", limit=1) == [old]
    assert found(service, "pgbouncer pools them") == [new]


@MT2
def test_many_superseded_notes_do_not_hide_the_current_one(service: KnowledgeService) -> None:
    old = [service.save(f"{OLD} ({number})").id for number in range(20)]
    current = service.save("Connections are limited by pgbouncer").id
    for older in old:
        service.update(current, supersedes=[*service.get(current).supersedes, older])
    assert found(service, "Connections are limited", limit=1) == [current]
    assert found(service, "Connections are limited", limit=5) == [current]


@MT2
def test_what_may_be_superseded(service: KnowledgeService) -> None:
    with acting_as(BEN):
        theirs, hidden = service.save("ben's").id, service.save("ben's own", private=True).id
    with acting_as(AKI):
        first, second, third = (service.save(text).id for text in ("one", "two", "three"))
        service.update(second, supersedes=[first])
        service.update(third, supersedes=[second, second])
        assert service.get(third).supersedes == [second]
        for ids, code in (
            ([first], "knowledge.supersedes_itself"),
            ([third], "knowledge.supersedes_in_circle"),
            (["k-unknown"], "knowledge.superseded_not_found"),
            ([hidden], "knowledge.superseded_not_found"),
            ([f"k-{number}" for number in range(21)], "knowledge.superseded_too_many"),
            (["a/b"], "knowledge.id_invalid"),
        ):
            with refused(ValidationError, code):
                service.update(first, supersedes=ids)
        with refused(ForbiddenError, "knowledge.note_forbidden"):
            service.save("mine", supersedes=[theirs])
        with refused(ForbiddenError, "knowledge.note_forbidden"):
            service.update(first, supersedes=[theirs])
        service.delete(first)
        service.update(second, content="two, changed", supersedes=[first])  # it was there before


@MT2
def test_a_note_that_others_cannot_see_supersedes_nothing_for_them(service: KnowledgeService) -> None:
    with acting_as(AKI):
        old = service.save(OLD).id
        service.save(NEW, supersedes=[old], private=True)
        assert old not in found(service, OLD)
    with acting_as(BEN):
        assert found(service, OLD) == [old]
        assert service.superseded_by(old) == []
    with acting_as(AKI):
        other = service.save("Redis evicts sessions").id
        service.save("Redis evicts nothing", supersedes=[other], proposal=True)
        assert service.superseded_by(other) == []


@MT2
@pytest.mark.parametrize("newer_space", ["team", "other"])
async def test_narrowing_to_a_space_hides_no_successor(
    store: SqliteStore, service: KnowledgeService, clock: Clock, page: TestClient, newer_space: str
) -> None:
    """Over the API and MCP, now and as of a date, whether the successor has changed since or not."""
    for name in ("ops", "other"):
        store.spaces.save(Space(name=name, everybody="write"))
    old = service.save(OLD, space="ops").id
    new = service.save(NEW, space=newer_space, supersedes=[old], title="pgbouncer").id
    other = service.save("Connections are limited by the firewall 接続数", space="ops").id
    clock.now += timedelta(days=5)
    async with Client(create_server(store=store)) as client:
        for changed in (False, True):
            if changed:
                service.update(new, tags=["db"])
            for options in ({}, {"at": "2026-03-04"}):
                for query, space in ((OLD, {"space": "ops"}), (f"{OLD} space:ops", {})):
                    done = await client.call_tool("search_knowledge", {"query": query, **space, **options})
                    listed = page.get(f"{API}/search", params={"q": query, **space, **options}).json()["hits"]
                    for hits in ((done.structured_content or {})["hits"], [one["hit"] for one in listed]):
                        found_ids = [(hit["id"], [link["id"] for link in hit.get("superseded_by", ())]) for hit in hits]
                        assert found_ids in ([(other, [])], [(other, []), (old, [new])]), (options, query)


@MT2
def test_links_go_both_ways_over_http(page: TestClient) -> None:
    old = page.post(API, json={"content": OLD}).json()["id"]
    new = page.post(API, json={"content": NEW, "title": "limit", "supersedes": [old]}).json()["id"]
    assert page.get(f"{API}/{old}").json()["superseded_by"] == [{"id": new, "title": "limit"}]
    read = page.get(f"{API}/{new}").json()
    assert read["supersedes"] == [old]
    assert [link["id"] for link in read["replaces"]] == [old]
    assert "superseded_by" not in read
    assert [one["hit"]["id"] for one in page.get(f"{API}/search", params={"q": OLD}).json()["hits"]] == [new]
    assert page.patch(f"{API}/{old}", json={"supersedes": [new]}).json()["code"] == "knowledge.supersedes_in_circle"
    versions = page.get(f"{API}/{new}/history").json()["versions"]
    assert page.patch(f"{API}/{new}", json={"supersedes": []}).json()["version"] == len(versions) + 1


@MT2
async def test_tools_supersede_and_search_as_of(store: SqliteStore) -> None:
    async with Client(create_server(store=store)) as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            return (await client.call_tool(tool, arguments)).structured_content or {}

        old = await call("save_knowledge", content=OLD)
        new = await call("save_knowledge", content="pgbouncer", supersedes=[old["id"]])
        (hit,) = [hit for hit in (await call("search_knowledge", query=OLD))["hits"] if hit["id"] == old["id"]]
        assert [link["id"] for link in hit["superseded_by"]] == [new["id"]]
        assert (await call("get_knowledge", id=old["id"]))["superseded_by"] == hit["superseded_by"]
        assert (await call("search_knowledge", query=OLD, at="2001-01-01"))["hits"] == []
        await call("update_knowledge", id=new["id"], supersedes=[])
        assert "superseded_by" not in await call("get_knowledge", id=old["id"])


@MT2
def test_hooks_never_push_a_superseded_note(service: KnowledgeService, store: SqliteStore) -> None:
    old = service.save(OLD, questions=[OLD], errors=["FATAL: too many connections"], source="pool.py")
    recall = Recall(store, "all")

    def pushed() -> list[list[str]]:
        recalled = (
            recall.for_prompt(OLD, Viewer(), without=set()),
            recall.for_failure("psql", "FATAL: too many connections", Viewer(), without=set()),
            recall.for_file("/work/pool.py", "/work", Viewer(), without=set()),
        )
        return [[one.note.id for one in notes] for notes in recalled]

    assert pushed() == [[old.id]] * 3
    service.save("something else entirely", supersedes=[old.id])
    assert pushed() == [[], [], []]


@MT2
def test_supersession_survives_export_and_import(tmp_path: Path, service: KnowledgeService) -> None:
    old = service.save(OLD)
    new = service.get(service.save(NEW, supersedes=[old.id]).id)
    path = tmp_path / "note.md"
    path.write_text(note_file.write(new), encoding="utf-8")
    assert note_file.read(path) == new
    service.delete(new.id)
    service.import_note(new)
    assert service.superseded_by(old.id) == [NoteLink(id=new.id, title=new.title)]


@MT2
def test_an_import_supersedes_only_what_its_user_may_change(service: KnowledgeService) -> None:
    with acting_as(BEN):
        theirs, hidden = service.save("ben's").id, service.save("ben's own", private=True).id
    with acting_as(AKI):
        mine = service.save("aki's").id
        note = a_note(
            "imported", id="k-imported", user_id="aki", supersedes=[theirs, hidden, mine, "k-later", "k-imported"]
        )
        service.import_note(note)
        assert service.get(note.id).supersedes == [mine, "k-later"]
        service.delete(note.id)
        assert service.restore(replace(note, supersedes=[theirs, mine])).supersedes == [mine]


@MT2
def test_search_as_of_a_date(service: KnowledgeService, clock: Clock) -> None:
    def on(day: int) -> str:
        return f"2026-03-{day:02}"

    def texts(day: int, query: str = "Connections are limited", **options: Any) -> list[str]:
        return [hit.content for hit in service.search(query, at=on(day), **options).hits]

    clock.now = START.replace(day=2)
    note = service.save("Connections are limited to 10", tags=["db"]).id
    gone = service.save("Connections are limited by the firewall, 接続").id
    same = service.save("Redis evicts sessions").id
    clock.now = START.replace(day=4)
    service.update(note, content="Connections are limited to 20", tags=["pool"])
    clock.now = START.replace(day=6)
    service.delete(gone)
    clock.now = START.replace(day=8)
    newer = service.save("Connections are limited by pgbouncer", supersedes=[note]).id
    clock.now = START.replace(day=10)
    service.update(newer, title="pgbouncer")

    assert texts(1) == []
    assert set(texts(2)) == {"Connections are limited to 10", "Connections are limited by the firewall, 接続"}
    assert texts(3) == texts(2)
    assert set(texts(5)) == {"Connections are limited to 20", "Connections are limited by the firewall, 接続"}
    assert texts(7) == ["Connections are limited to 20"]
    assert texts(9) == ["Connections are limited by pgbouncer"]
    assert texts(11) == ["Connections are limited by pgbouncer"]
    assert texts(3, "tag:db connections") == texts(3, "tag:db") == ["Connections are limited to 10"]
    assert texts(5, "tag:db connections") == []
    assert texts(3, "接続 firewall")[0] == "Connections are limited by the firewall, 接続"
    assert found(service, "Redis evicts sessions", at=on(3))[0] == same
    assert found(service, "Redis evicts sessions", at="2026-03-02T09:00:00+00:00") == []
    assert found(service, "tag:pool", at=on(5)) == [note]
    for wrong in ("yesterday", "2026-13-01", "", "9999-12-31"):
        with refused(ValidationError, "knowledge.at_invalid"):
            service.search("x", at=wrong)


@MT2
@pytest.mark.parametrize("date", ["at:2026-03-02", "AT：2026/3/2", 'at:"2026-03-02T23:00:00"', "at:2026 at:2026-03-02"])
def test_a_filter_of_the_query_is_the_date_too(service: KnowledgeService, clock: Clock, date: str) -> None:
    clock.now = datetime(2026, 3, 1, 9, tzinfo=UTC)
    note = service.save("接続は 10 本まで Connections are limited").id
    clock.now = datetime(2026, 3, 5, 9, tzinfo=UTC)
    service.update(note, content="接続は 99 本まで Connections are limited")
    (hit,) = service.search(f"Connections {date}").hits
    assert (hit.id, "10 本" in hit.content) == (note, True)
    (hit,) = service.search("Connections at:2026-03").hits
    assert "99 本" in hit.content
    assert service.search("Connections at:2025").hits == []


@MT2
@pytest.mark.parametrize("text", ["it failed at:10:30", "at:8080", "look at:home", "format:2026-03-01"])
def test_what_is_no_date_stays_text(service: KnowledgeService, text: str) -> None:
    note = service.save(f"{text} and then").id
    assert [hit.id for hit in service.search(text).hits] == [note]


@MT2
def test_search_as_of_shows_nobody_what_they_could_not_or_may_not_read(service: KnowledgeService, clock: Clock) -> None:
    with acting_as(AKI):
        hidden = service.save("Connections are limited to zanzibar", private=True).id
        shared = service.save("Connections are limited to 10").id
        clock.now += timedelta(days=5)
        service.update(hidden, content="Connections are limited", private=False)
        service.update(shared, content="Connections are limited to zanzibar", private=True)
    with acting_as(BEN):
        assert found(service, "Connections are limited", at="2026-03-02") == []
    with acting_as(AKI):
        assert set(found(service, "Connections are limited", at="2026-03-02")) == {hidden, shared}


@MT2
def test_search_as_of_shows_no_expired_trash(service: KnowledgeService, store: SqliteStore, clock: Clock) -> None:
    """Whether it has been purged or not, and nobody what was private when it was deleted."""
    with acting_as(AKI):
        expired, private = (service.save(f"Connections are limited to {number}").id for number in range(2))
        clock.now += timedelta(days=5)
        service.update(expired, content="Connections are limited")
        service.update(private, private=True)
        service.delete(expired)
        clock.now += timedelta(days=20)
        service.delete(private)
        assert set(found(service, "Connections", at="2026-03-02")) == {expired, private}
        clock.now += timedelta(days=20)
        assert found(service, "Connections", at="2026-03-02") == [private]
        assert store.trashed(expired) is not None
    with acting_as(BEN):
        assert found(service, "Connections", at="2026-03-02") == []


@MT2
def test_change_without_effect_leaves_the_note_where_it_was(service: KnowledgeService, clock: Clock) -> None:
    note = service.save("Connections are limited to 10", tags=["db"])
    clock.now += timedelta(days=5)
    for by in ("assistant", "person"):
        saved = service.update(note.id, content="Connections are limited to 10", tags=["db"], by=by)
        assert (saved.version, saved.updated_at) == (1, note.updated_at)
    assert service.get(note.id).confirmed_at is not None
    assert found(service, "Connections", at="2026-03-02") == [note.id]


@MT2
def test_search_as_of_says_if_it_is_incomplete(
    service: KnowledgeService, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(as_of, "MAX_CHANGED", 2)
    ids = [service.save(f"Connections are limited to {number}").id for number in range(3)]
    clock.now += timedelta(days=5)
    assert service.search("Connections", at="2026-03-02").notice is None
    for note_id in ids:
        service.update(note_id, content="changed")
    answer = service.search("Connections", at="2026-03-02")
    assert len(answer.hits) == 2
    assert answer.notice is not None
    assert answer.notice.code == "knowledge.as_of_incomplete"
    assert service.search("author:nobody Connections", at="2026-03-02").notice is None
    monkeypatch.undo()
    monkeypatch.setattr(as_of, "MAX_CHARACTERS", 60)
    answer = service.search("Connections", at="2026-03-02")
    assert answer.notice == Message("knowledge.as_of_incomplete", limit=2)


def chie(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@MT2
@pytest.mark.usefixtures("home")
def test_supersession_on_the_command_line() -> None:
    old = json.loads(chie("notes", "save", "接続は 10 本まで", "--json").output)["id"]
    new = json.loads(chie("notes", "save", "pgbouncer", "--supersedes", old, "--json").output)["id"]
    assert f"superseded by {new}  pgbouncer" in chie("notes", "show", old).output
    assert f"superseded by {new}" in chie("notes", "search", "接続は 10 本まで").output
    assert "No note matches" in chie("notes", "search", "接続", "--at", "2001-01-01").output
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    assert old in chie("notes", "search", "接続は 10 本まで", "--at", today).output
    wrong = chie("notes", "search", "x", "--at", "soon")
    assert (wrong.exit_code, "`at`" in wrong.output) == (1, True)
