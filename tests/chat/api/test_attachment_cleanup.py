"""Deleting files that nothing has: nobody waits for it, however many there are, and none goes that is still needed."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import URL, create_engine, text
from sqlalchemy.pool import NullPool
from tests.chat.api.test_attachments import SeeingAgent, count, upload
from tests.chat.api.test_projects import add, create
from tests.fakes.agents import FakeRegistry
from tests.fakes.chat import ChatClient, open_chat
from tests.fakes.pictures import png
from tests.fakes.waiting import until

from chie.chat.runs import cleanup
from chie.chat.sessions import attachment_table
from chie.chat.sessions import attachments as store
from chie.chat.sessions.entities import now
from chie.chat.sessions.usage import UsageStore

pytestmark = pytest.mark.req("AG-4", "TR-5")

MANY = 70_000  # a statement takes 65,535 parameters on PostgreSQL and 32,766 on SQLite
NUMBERS = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :many) "


@pytest.fixture
async def chat(both: URL) -> AsyncIterator[ChatClient]:
    async with open_chat(both, FakeRegistry(SeeingAgent())) as opened:
        yield opened


def execute(url: URL, *statements: str, **parameters: object) -> None:
    url = url.set(drivername="sqlite") if url.get_backend_name() == "sqlite" else url
    with create_engine(url, poolclass=NullPool).begin() as connection:
        for statement in statements:
            connection.execute(text(statement), parameters)


def add_many(url: URL, *more: str, **parameters: object) -> None:
    """Attachments of one file, each with its own name, that were uploaded long ago."""
    columns = "id, user_id, hash, name, kind, media_type, created_at"
    execute(
        url,
        "INSERT INTO attachment_files (hash, size, data) VALUES ('many', 1, 'x')",
        f"INSERT INTO attachments ({columns}) {NUMBERS}"  # noqa: S608
        "SELECT 'many-' || n, 'anonymous', 'many', 'file ' || n, 'document', 'text/plain', :moment FROM numbers",
        *more,
        many=MANY,
        moment="2020-01-01 00:00:00.000000",
        **parameters,
    )


async def status(chat: ChatClient, attachment: dict[str, Any]) -> int:
    return (await chat.client.get(f"/api/attachments/{attachment['attachment_id']}")).status_code


async def test_no_number_of_unsent_files_stops_an_upload_or_a_start(both: URL) -> None:
    async with open_chat(both, FakeRegistry(SeeingAgent())) as chat:
        add_many(both)
        await upload(chat, "a.png", png())
    async with open_chat(both, FakeRegistry(SeeingAgent())) as chat:
        kept = await upload(chat, "b.txt", b"b")

        async def cleaned() -> bool:
            return await count(chat, "attachments") == 2

        await until(cleaned)
        assert await count(chat, "attachment_files") == 2
        assert await status(chat, kept) == 200


async def test_session_with_any_number_of_files_is_deleted(chat: ChatClient) -> None:
    session, _ = await chat.ask("one")
    question = (await chat.messages(session))[0]["message_id"]
    links = f"INSERT INTO message_attachments (message_id, position, attachment_id) {NUMBERS}"
    add_many(chat.url, f"{links} SELECT :question, n, 'many-' || n FROM numbers", question=question)  # noqa: S608
    deleted = await chat.client.delete(f"/api/sessions/{session}")
    assert deleted.status_code == 204, deleted.text
    assert (await count(chat, "attachment_files"), await count(chat, "attachments")) == (0, 0)


async def test_failed_clean_up_is_repeated_and_the_app_serves(
    both: URL, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_chat(both, FakeRegistry(SeeingAgent())) as chat:
        forgotten = await upload(chat, "a.png", png())
    tries = []

    async def fail(_: UsageStore) -> None:
        tries.append(1)
        raise RuntimeError("out of order")

    monkeypatch.setattr(UsageStore, "forget_old_records", fail)
    monkeypatch.setattr(cleanup, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(store, "now", lambda: now() + timedelta(hours=25))
    async with open_chat(both, FakeRegistry(SeeingAgent())) as chat:
        assert (await chat.client.get("/health")).json()["servers"]["chat"]["status"] == "healthy"
        session, _ = await chat.ask("one")
        assert (await chat.messages(session))[-1]["status"] == "complete"

        async def repeated() -> bool:
            return len(tries) > 2 and await status(chat, forgotten) == 404  # the other steps are done

        await until(repeated)
    assert "cannot delete old usage records yet" in caplog.text


class TestRepeatedUpload:
    """The same file is one attachment, which is deleted with the last conversation that has it."""

    async def test_stays_when_an_older_conversation_is_deleted(self, chat: ChatClient) -> None:
        first = await upload(chat, "a.png", png())
        older, _ = await chat.ask("one", attachments=[first["attachment_id"]])
        again = await upload(chat, "a.png", png())
        assert again == first
        assert (await chat.client.delete(f"/api/sessions/{older}")).status_code == 204
        assert await status(chat, again) == 200
        newer, _ = await chat.ask("two", attachments=[again["attachment_id"]])
        assert (await chat.messages(newer))[0]["attachments"] == [again]

    async def test_stays_in_every_tab_until_a_day_has_passed(
        self, chat: ChatClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = await upload(chat, "a.png", png())
        await upload(chat, "a.png", png())  # in a second tab, which sends it first
        sent, _ = await chat.ask("one", attachments=[file["attachment_id"]])
        await chat.client.delete(f"/api/sessions/{sent}")
        assert await status(chat, file) == 200
        for module in (store, attachment_table):
            monkeypatch.setattr(module, "now", lambda: now() + timedelta(hours=25))
        await chat.app.state.chat.attachments.delete_unsent()
        assert await status(chat, file) == 404
        assert await count(chat, "attachment_files") == 0

    async def test_stays_when_a_project_or_a_copy_is_deleted(self, chat: ChatClient) -> None:
        project = await create(chat)
        await add(chat, project, "plan.txt", b"plan")
        plan = await upload(chat, "plan.txt", b"plan")
        assert (await chat.client.delete(f"/api/projects/{project['project_id']}")).status_code == 204
        assert await status(chat, plan) == 200
        session, _ = await chat.ask("one", attachments=[plan["attachment_id"]])
        share = (await chat.client.post(f"/api/sessions/{session}/shares", json={})).json()
        copied = await chat.client.post(f"/api/shared/{share['token']}/continue")
        assert copied.status_code == 201, copied.text
        await chat.client.delete(f"/api/sessions/{session}")
        mine = (await chat.messages(copied.json()["session_id"]))[0]["attachments"]
        assert [one["name"] for one in mine] == ["plan.txt"]
        assert await status(chat, mine[0]) == 200
