"""The title that an agent's model gives a conversation after its first answer."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event
from typing import Any, cast

import httpx2
import pytest
from tests.fakes.model_app import ModelApp, open_model_app
from tests.fakes.model_server import Refuse, Say, Step, say
from tests.fakes.waiting import until

from chie.chat.runs import titles
from chie.chat.runs.titles import MAX_AT_ONCE
from chie.chat.settings import ChatSettings

QUESTION = (
    "DNS が VPN の内側で引けないのはなぜですか？ 原因と、社内 DNS サーバーでの対処を教えてください。お願いします。"
)
FIRST_WORDS = QUESTION[:59] + "…"


@asynccontextmanager
async def opened(folder: Path, *written: Step) -> AsyncIterator[tuple[ModelApp, httpx2.AsyncClient]]:
    async with open_model_app(folder, ChatSettings()) as app, httpx2.AsyncClient(base_url=app.url) as client:
        app.openai.titles.extend(written)
        yield app, client


async def ask(app: ModelApp, client: httpx2.AsyncClient, message: str = QUESTION, **fields: Any) -> str:
    app.openai.script.append(say("リゾルバーが社内を向いていません。"))
    body = {"message": message, "agent_id": "chat", **fields}
    response = await client.post("/api/chat/stream", json=body, timeout=60)
    assert response.status_code == 200, response.text
    assert "event: done" in response.text
    return response.headers["x-chie-session"]


async def title_of(client: httpx2.AsyncClient, session_id: str) -> str:
    return str((await client.get(f"/api/sessions/{session_id}")).json()["title"])


async def until_titled(client: httpx2.AsyncClient, session_id: str, title: str) -> None:
    async def named() -> bool:
        return await title_of(client, session_id) == title

    await until(named)


async def until_asked(app: ModelApp) -> None:
    async def asked() -> bool:
        return bool(app.openai.titled) and not [
            task for task in asyncio.all_tasks() if task.get_name().startswith("title-")
        ]

    await until(asked)


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("VPN 内の DNS 障害", "VPN 内の DNS 障害"),
        ("<think>短く。</think>\n\nタイトル：「VPN と DNS」。\n説明です。", "VPN と DNS"),
        ('**Title: "DNS behind the VPN."**', "DNS behind the VPN"),
        ("**VPN** の `DNS` を直す", "VPN の DNS を直す"),
    ],
    ids=["plain", "framed", "english", "markdown"],
)
async def test_model_names_a_conversation(tmp_path: Path, written: str, title: str) -> None:
    async with opened(tmp_path, say(*written)) as (app, client):
        session_id = await ask(app, client)
        await until_titled(client, session_id, title)
        found = (await client.get("/api/sessions", params={"query": title})).json()["sessions"]
        assert [session["title"] for session in found] == [title]
        [asked] = app.openai.titled
        assert "tools" not in asked
        assert QUESTION in asked["messages"][1]["content"]
        await ask(app, client, "And tomorrow?", session_id=session_id)
        assert await title_of(client, session_id) == title
        assert len(app.openai.titled) == 1


@pytest.mark.parametrize(
    "step",
    [say(), say("x" * 200), say("<b>bold</b>"), Refuse(500), Refuse(429)],
    ids=["empty", "long", "markup", "500", "429"],
)
async def test_first_words_remain_if_there_is_no_title(tmp_path: Path, step: Step) -> None:
    async with opened(tmp_path, step) as (app, client):
        session_id = await ask(app, client)
        await until_asked(app)
        assert await title_of(client, session_id) == FIRST_WORDS


async def test_answer_does_not_wait_and_a_name_given_by_hand_stays(tmp_path: Path) -> None:
    renamed = Event()

    def held() -> Iterator[str]:
        renamed.wait(60)
        yield "VPN"

    async with opened(tmp_path, Say(cast("tuple[str, ...]", held()))) as (app, client):
        session_id = await ask(app, client)

        async def requested() -> bool:
            return bool(app.openai.titled)

        await until(requested)
        assert (await client.patch(f"/api/sessions/{session_id}", json={"title": "手で付けた名前"})).is_success
        renamed.set()
        await until_asked(app)
        assert await title_of(client, session_id) == "手で付けた名前"


async def test_sessions_that_begin_together_are_named_two_at_a_time(tmp_path: Path) -> None:
    go_on = Event()

    def held(title: str) -> Say:
        def pieces() -> Iterator[str]:
            go_on.wait(60)
            yield title

        return Say(cast("tuple[str, ...]", pieces()))

    async with opened(tmp_path, *(held(f"題名 {number}") for number in range(4))) as (app, client):
        sessions = [await ask(app, client) for _ in range(4)]

        async def two_requested() -> bool:
            return len(app.openai.titled) == MAX_AT_ONCE

        await until(two_requested)
        assert await title_of(client, sessions[3]) == FIRST_WORDS
        assert await two_requested()
        go_on.set()
        await until_asked(app)
        named = {await title_of(client, session) for session in sessions}
        assert named == {f"題名 {number}" for number in range(4)}


async def test_title_whose_turn_comes_waits_for_the_answers_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(titles, "MAX_WAIT_SECONDS", 3_600)
    name, answering, answer = Event(), Event(), Event()

    def held(title: str) -> Iterator[str]:
        name.wait(60)
        yield title

    def long() -> Iterator[str]:
        answering.set()
        answer.wait(60)
        yield "はい。"

    waiting = [Say(cast("tuple[str, ...]", held(f"題名 {number}"))) for number in range(MAX_AT_ONCE)]
    async with opened(tmp_path, *waiting, say("最後の題名"), say("新しい題名")) as (app, client):
        *sessions, last = [await ask(app, client) for _ in range(MAX_AT_ONCE + 1)]

        async def requested() -> bool:
            return len(app.openai.titled) == MAX_AT_ONCE

        await until(requested)
        app.openai.script.append(Say(cast("tuple[str, ...]", long())))
        body = {"message": "つながりますか？", "agent_id": "chat"}
        asked = asyncio.create_task(client.post("/api/chat/stream", json=body, timeout=60))
        await asyncio.to_thread(answering.wait, 60)
        name.set()

        async def named() -> bool:  # in either order: both requests run at once
            return {await title_of(client, one) for one in sessions} == {f"題名 {at}" for at in range(MAX_AT_ONCE)}

        await until(named)
        for _ in range(30):  # while the others work on, the title that has a free place now is not asked for
            assert await title_of(client, last) == FIRST_WORDS
        assert len(app.openai.titled) == MAX_AT_ONCE
        answer.set()
        await asked
        await until_asked(app)
        assert await title_of(client, last) in ("最後の題名", "新しい題名")


async def test_name_given_before_the_first_question_stays(tmp_path: Path) -> None:
    async with opened(tmp_path, say("VPN")) as (app, client):
        named = (await client.post("/api/sessions", json={"agent_id": "chat", "title": "Mine"})).json()["session_id"]
        await ask(app, client, session_id=named)
        other = await ask(app, client)
        await until_titled(client, other, "VPN")
        assert await title_of(client, named) == "Mine"
        assert len(app.openai.titled) == 1


async def test_titles_can_be_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_TITLES", "false")
    async with opened(tmp_path, say("VPN")) as (app, client):
        session_id = await ask(app, client)
        assert await title_of(client, session_id) == FIRST_WORDS
        assert app.openai.titled == []
