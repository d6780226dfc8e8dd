"""Revoking a user ends the user's open streams, in every process that serves one."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import URL
from tests.fakes.agents import EndlessAgent, GatedAgent
from tests.fakes.chat import ChatClient, open_chat
from tests.fakes.sse import asking, following, texts
from tests.fakes.waiting import until

from chie.access import revocation
from chie.access.users import UserFile
from chie.messages.catalogue import Message

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture(autouse=True)
def checked_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revocation, "CHECK_SECONDS", 0.01)


@pytest.fixture
def users(home: Path) -> UserFile:
    return UserFile(home / "users.json")


@asynccontextmanager
async def opened(url: URL, token: str) -> AsyncIterator[ChatClient]:
    async with open_chat(url) as chat:
        chat.client.headers["authorization"] = f"Bearer {token}"
        yield chat


async def test_stream_of_a_revoked_user_ends_with_the_reason(both: URL, users: UserFile) -> None:
    async with opened(both, users.add("aki")) as chat:
        async with asking(chat.client, "長い話", agent_id="gated") as reader:
            chat.agent(GatedAgent).allow("むかし ")
            assert (await reader.event()).text == "むかし "
            users.revoke("aki")
            *_, error, done = await reader.rest()
        assert (error.data["code"], error.data["error"]) == (
            "access.token_revoked",
            str(Message("access.token_revoked")),
        )
        assert (error.id, done.id, done.data) == (2, 3, {"message_id": None})
        assert (await chat.client.get("/api/sessions")).status_code == 401
        chat.client.headers["authorization"] = f"Bearer {users.add('aki')}"

        async def stopped() -> bool:
            _, answer = await chat.messages(reader.response.headers["x-chie-session"])
            return bool(answer["status"] == "stopped" and answer["content"] == "むかし ")

        await until(stopped)


async def test_stream_from_another_process_ends_too(both: URL, users: UserFile) -> None:
    token = users.add("aki")
    async with (
        opened(both, token) as owner,
        opened(both, token) as other,
        asking(owner.client, "x", agent_id="gated") as reader,
    ):
        owner.agent(GatedAgent).allow("one ")
        await reader.event()
        async with following(other.client, reader.message_id) as follower:
            assert (await follower.event()).text == "one "
            users.revoke("aki")
            *_, error, _ = await follower.rest()
    assert error.data["code"] == "access.token_revoked"


async def test_streams_of_other_users_go_on(both: URL, users: UserFile) -> None:
    users.add("aki")
    async with (
        opened(both, users.add("ben")) as chat,
        asking(chat.client, "x", agent_id="gated") as reader,
    ):
        users.revoke("aki")
        chat.agent(GatedAgent).allow("still ", "here")
        chat.agent(GatedAgent).finish()
        events = await reader.rest()
    assert (texts(events), events[-1].event) == ("still here", "done")
    assert events[-1].data["message_id"]


async def test_completion_of_a_revoked_user_ends_with_the_reason(both: URL, users: UserFile) -> None:
    async with opened(both, users.add("aki")) as chat:
        body = {"model": "endless", "stream": True, "messages": [{"role": "user", "content": "count"}]}
        async with chat.client.stream("POST", "/v1/chat/completions", json=body) as response:
            lines = response.aiter_lines()
            await anext(lines)
            users.revoke("aki")
            rest = [line async for line in lines if line]
        assert json.loads(rest[-1].removeprefix("data: "))["error"]["code"] == "access.token_revoked"

        async def closed() -> bool:
            return chat.agent(EndlessAgent).closed == 1

        await until(closed)
