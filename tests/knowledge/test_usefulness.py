"""What became of notes is counted, cheaply and per note; searches are recorded only for users who agreed."""

from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import Any

import pytest
from fastmcp import Client
from starlette.testclient import TestClient
from tests.fakes.hashed_notes import page, service, store
from tests.fakes.hook_bodies import hook_body

from chie.access.identity import User, acting_as
from chie.app import create_app
from chie.errors import NotFoundError, StorageError
from chie.knowledge.recall.hooks import Event, Hooks
from chie.knowledge.server import create_server
from chie.knowledge.service import KnowledgeService
from chie.knowledge.spaces.space import Space
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.knowledge.usefulness.usefulness import Usefulness

__all__ = ["page", "service", "store"]

pytestmark = pytest.mark.req("MT-7")

API = "/api/knowledge"
AKI, BEN = User("aki"), User("ben")
TEXT = "接続エラーは pool の上限が原因 connection refused by the pool"


class Clock:
    def __init__(self) -> None:
        self.moment = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def usefulness(service: KnowledgeService, clock: Clock) -> Usefulness:
    return Usefulness(service, clock=clock)


def test_showing_opening_citing_and_marking_are_counted(page: TestClient, service: KnowledgeService) -> None:
    note_id = service.save(TEXT).id
    assert "uses" not in page.get(f"{API}/{note_id}").json()
    for query in ("接続エラー pool", "connection refused"):
        assert page.get(f"{API}/search", params={"q": query}).json()["hits"]
    assert page.post(f"{API}/cited", json={"notes": [note_id, "k-unknown"]}).status_code == 204
    read = page.get(f"{API}/{note_id}").json()
    assert read["uses"] == {"shown": 1, "opened": 1, "cited": 1}  # once for this user
    marked = page.put(f"{API}/{note_id}/mark", json={"mark": "helpful"}).json()
    assert marked == {"uses": {**read["uses"], "helpful": 1}, "mark": "helpful"}
    assert page.get(f"{API}/{note_id}").json()["mark"] == "helpful"
    assert page.put(f"{API}/{note_id}/mark", json={"mark": None}).json() == {"uses": read["uses"], "mark": None}
    assert page.put(f"{API}/k-unknown/mark", json={"mark": "wrong"}).status_code == 404
    assert page.put(f"{API}/{note_id}/mark", json={"mark": "great"}).status_code == 400


async def test_an_assistant_reads_and_marks(store: SqliteStore, service: KnowledgeService) -> None:
    with acting_as(AKI):
        note_id = service.save(TEXT).id
    async with Client(create_server(store=store)) as client:
        await client.call_tool("search_knowledge", {"query": "接続エラー pool"})
        await client.call_tool("get_knowledge", {"id": note_id})
        marked = await client.call_tool("update_knowledge", {"id": note_id, "mark": "wrong"})  # of another user
        assert marked.structured_content
        assert marked.structured_content["id"] == note_id
        read = await client.call_tool("get_knowledge", {"id": note_id})
        assert read.structured_content
        assert read.structured_content["uses"] == {"shown": 1, "opened": 1, "wrong": 1}
    assert service.get(note_id).content == TEXT


async def test_an_assistant_marks_and_moves_in_one_call(store: SqliteStore, service: KnowledgeService) -> None:
    store.spaces.save(Space(name="ops", everybody="write"))
    note_id = service.save(TEXT).id
    async with Client(create_server(store=store)) as client:
        await client.call_tool("update_knowledge", {"id": note_id, "mark": "helpful", "space": "ops"})
    assert (service.get(note_id).space, list(store.records.marks(note_id).values())) == ("ops", ["helpful"])


def test_counts_are_written_when_the_server_closes(store: SqliteStore, service: KnowledgeService) -> None:
    note_id = service.save(TEXT).id
    with TestClient(create_app({"knowledge": create_server(store=store)}), base_url="http://127.0.0.1:8080") as page:
        page.get(f"{API}/{note_id}")
    assert store.records.uses(note_id) == {"opened": 1}


def test_users_count_once_in_a_while(usefulness: Usefulness, clock: Clock, store: SqliteStore) -> None:
    for user in (AKI, AKI, BEN):
        with acting_as(user):
            usefulness.count("shown", ["k-1", "k-2"])
    clock.moment += timedelta(minutes=11)
    with acting_as(AKI):
        usefulness.count("shown", ["k-1"])
    assert (usefulness.uses("k-1"), usefulness.uses("k-2")) == ({"shown": 3}, {"shown": 2})
    assert store.records.uses("k-1") == {}
    usefulness.flush()
    usefulness.flush()
    assert (store.records.uses("k-1"), usefulness.uses("k-1")) == ({"shown": 3}, {"shown": 3})


def test_counts_are_read_whole_while_they_are_written(usefulness: Usefulness, monkeypatch: pytest.MonkeyPatch) -> None:
    usefulness.count("shown", ["k-1"])
    write, seen = usefulness._records.add_uses, []
    reader = Thread(target=lambda: seen.append(usefulness.uses("k-1")))

    def slow(uses: Any) -> None:
        reader.start()
        reader.join(0.2)  # a reader that does not wait is done by then
        write(uses)

    monkeypatch.setattr(usefulness._records, "add_uses", slow)
    usefulness.flush()
    reader.join()
    assert seen == [{"shown": 1}]


def test_counts_that_cannot_be_written_are_kept(usefulness: Usefulness, monkeypatch: pytest.MonkeyPatch) -> None:
    usefulness.count("shown", ["k-1"])

    def full(_: object) -> None:
        raise StorageError("database.pool_exhausted", location="x")

    with monkeypatch.context() as patch:
        patch.setattr(usefulness._records, "add_uses", full)
        usefulness.flush()
    usefulness.count("opened", ["k-1"])
    usefulness.flush()
    assert usefulness.uses("k-1") == {"shown": 1, "opened": 1}


def test_nobody_counts_or_marks_another_users_private_note(usefulness: Usefulness, service: KnowledgeService) -> None:
    with acting_as(AKI):
        note_id = service.save(TEXT, private=True).id
    with acting_as(BEN):
        usefulness.cited([note_id])
        for touch in (usefulness.read, lambda one: usefulness.mark(one, "wrong")):
            with pytest.raises(NotFoundError):
                touch(note_id)
    with acting_as(AKI):
        assert usefulness.read(note_id).uses == {}


def test_a_note_that_a_hook_showed_and_the_session_read_is_followed(
    usefulness: Usefulness, service: KnowledgeService
) -> None:
    shown, other = (service.save(f"{TEXT} {name}", origin="person").id for name in ("one", "two"))
    hooks = Hooks(service, usefulness=usefulness)
    key = {"session_id": "s-1"}
    service.store.remember_shown(
        "anonymous s-1", [shown], at=datetime.now(UTC), forget_before=datetime(1970, 1, 1, tzinfo=UTC)
    )
    for note_id in (shown, other, shown):
        body: dict[str, Any] = {
            **hook_body("post_tool_use_save_knowledge"),
            **key,
            "tool_name": "mcp__plugin_chie_knowledge__get_knowledge",
            "tool_input": {"id": note_id},
        }
        hooks.handle(Event.of(body), base_url="http://127.0.0.1:8080")
    assert (usefulness.uses(shown), usefulness.uses(other)) == ({"followed": 1}, {})


@pytest.mark.req("MT-8")
def test_searches_are_recorded_for_users_who_agreed(
    usefulness: Usefulness, service: KnowledgeService, store: SqliteStore, clock: Clock
) -> None:
    note_id, other = service.save(TEXT).id, service.save("redis evicts sessions").id
    store.records.agree("aki", recording=True)
    for user in (AKI, BEN):
        with acting_as(user):
            for query in ("接続エラー pool", "connection refused pool"):
                usefulness.searched(query, service.search(query))
            usefulness.opened(note_id)
            usefulness.opened("k-never-found")
    usefulness.flush()
    recorded = [(one.query, one.note) for one in store.records.searches("aki")]
    assert recorded == [("connection refused pool", note_id)]
    assert store.records.searches("ben") == []
    with acting_as(AKI):
        usefulness.searched("redis", service.search("redis"))
        clock.moment += timedelta(minutes=11)
        usefulness.opened(other)
    usefulness.flush()
    assert len(store.records.searches("aki")) == 1


@pytest.mark.req("MT-8")
def test_a_user_agrees_and_withdraws_over_http(page: TestClient, service: KnowledgeService) -> None:
    assert page.get(f"{API}/recording").json() == {"recording": False, "searches": 0}
    assert page.put(f"{API}/recording", json={"recording": True}).json() == {"recording": True, "searches": 0}
    assert page.put(f"{API}/recording", json={"recording": False}).json() == {"recording": False, "searches": 0}
    assert service.store.records.records_searches("anonymous") is False
