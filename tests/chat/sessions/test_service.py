"""The rules of sessions, asked directly: titles, pages, who answers, and whose they are."""

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from tests.fakes.agents import FakeDirectory

from chie.access.identity import NOBODY, User, acting_as
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import Ending, Events
from chie.chat.sessions.service import MAX_TITLE, TITLE_LENGTH, SessionService, made_title
from chie.chat.sessions.turns import Turns
from chie.errors import AuthenticationError, NotFoundError, ValidationError


@pytest.fixture
def service(database: Database) -> SessionService:
    return SessionService(database, FakeDirectory())


async def test_a_new_session_has_the_houses_first_agent_unless_one_is_named(service: SessionService) -> None:
    plain, named = await service.create(), await service.create(agent_id="echo", title=" 障害\n対応 ")
    assert (plain.current_agent_id, plain.title) == ("scripted", "")
    assert (named.current_agent_id, named.title) == ("echo", "障害 対応")
    assert named.created_at == named.updated_at
    stored = await service.conversation(named.session_id)
    assert (stored.title, stored.messages, stored.created_at) == ("障害 対応", [], named.created_at)


async def test_an_agent_that_nobody_knows_makes_no_session(service: SessionService) -> None:
    with pytest.raises(NotFoundError, match="no agent has this id"):
        await service.create(agent_id="x")
    assert await service.check() == 0


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("a" * TITLE_LENGTH, "a" * TITLE_LENGTH),
        ("a" * (TITLE_LENGTH + 1), "a" * (TITLE_LENGTH - 1) + "…"),
        ("a" * (TITLE_LENGTH - 2) + " bcd", "a" * (TITLE_LENGTH - 2) + "…"),
        (" " * TITLE_LENGTH * 4 + "x", "x"),
        ("a" + " " * (TITLE_LENGTH * 4 - 2) + "bc", "a b"),
        ("a" + " " * (TITLE_LENGTH * 4 - 1) + "bc", "a"),
        ("a\x00\x1b[0m\tb\x7f", "a [0m b"),
    ],
)
def test_a_title_is_the_beginning_on_one_line(text: str, title: str) -> None:
    assert made_title(text) == title


async def test_a_longer_title_may_be_given_than_is_made(service: SessionService) -> None:
    session = await service.create()
    changed = await service.change(session.session_id, title="知" * (MAX_TITLE + 1))
    assert changed.title == "知" * (MAX_TITLE - 1) + "…"


async def test_a_blank_title_is_refused(service: SessionService) -> None:
    session = await service.create(title="x")
    with pytest.raises(ValidationError) as caught:
        await service.change(session.session_id, title=" \n")
    assert caught.value.message == "title is blank: give it at least one visible character."


async def test_a_change_touches_only_what_is_given(service: SessionService) -> None:
    session = await service.create(title="x")
    titled = await service.change(session.session_id, title="y")
    assert (titled.title, titled.current_agent_id) == ("y", "scripted")
    handed = await service.change(session.session_id, agent_id="echo")
    assert (handed.title, handed.current_agent_id) == ("y", "echo")
    assert await service.change(session.session_id) == handed
    with pytest.raises(NotFoundError, match="no agent has this id"):
        await service.change(session.session_id, agent_id="x")


async def test_a_session_that_is_not_there_is_said_not_to_be(service: SessionService) -> None:
    for asked in (
        service.conversation("x"),
        service.change("x", title="y"),
        service.delete("x"),
        service.unfinished("x"),
    ):
        with pytest.raises(NotFoundError) as caught:
            await asked
        assert caught.value.message == "no session has this id. GET /api/sessions lists those that exist."


async def test_pages_follow_each_other_to_the_last(service: SessionService) -> None:
    made = [(await service.create(title=str(number))).session_id for number in range(4)]
    first = await service.page(limit=2)
    second = await service.page(limit=2, cursor=first.next_cursor)
    assert [session.session_id for session in first.sessions + second.sessions] == made[::-1]
    assert second.next_cursor is None
    assert (await service.page(limit=3)).next_cursor is not None
    assert (await service.page(limit=4)).next_cursor is None


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "JST-9")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("tokyo")
async def test_pages_follow_each_other_wherever_the_clock_stands(service: SessionService) -> None:
    made = [(await service.create(title=str(number))).session_id for number in range(3)]
    first = await service.page(limit=1)
    assert [session.session_id for session in (await service.page(cursor=first.next_cursor)).sessions] == made[1::-1]


async def test_a_page_holds_fifty_unless_it_is_said_otherwise(service: SessionService) -> None:
    for number in range(51):
        await service.create(title=str(number))
    page = await service.page(query="", cursor="")
    assert len(page.sessions) == 50
    assert page.next_cursor is not None


async def test_a_page_can_be_searched(service: SessionService) -> None:
    await service.create(title="nginx の障害")
    await service.create(title="other")
    assert [session.title for session in (await service.page(query="ＮＧＩＮＸ")).sessions] == ["nginx の障害"]


@pytest.mark.parametrize(
    "text", ["x", "知", "2024-01-01T00:00:00 x", f"x {UUID(int=1)}", f"2024-01-01T00:00:00+00:00\n{UUID(int=1)}"]
)
async def test_a_cursor_that_was_not_given_is_refused(service: SessionService, text: str) -> None:
    for cursor in (text, base64.urlsafe_b64encode(text.encode()).decode()):
        with pytest.raises(ValidationError) as caught:
            await service.page(cursor=cursor)
        assert caught.value.code == "database.cursor_invalid"


async def test_a_deleted_session_is_gone_and_that_is_written_down(service: SessionService, home: Path) -> None:
    kept, gone = await service.create(), await service.create()
    await service.delete(gone.session_id)
    assert [session.session_id for session in (await service.page()).sessions] == [kept.session_id]
    line = json.loads((home / "audit.log").read_text(encoding="utf-8").splitlines()[-1])
    assert (line["kind"], line["id"]) == ("session.deleted", gone.session_id)


async def test_nobody_knows_of_somebody_elses_session(service: SessionService) -> None:
    with acting_as(User("yuki")):
        own = await service.create(title="mine")
        assert own.user_id == "yuki"
    with acting_as(User("ken", admin=True)):
        assert (await service.page()).sessions == []
        for asked in (
            service.conversation(own.session_id),
            service.change(own.session_id, title="y"),
            service.delete(own.session_id),
            service.unfinished(own.session_id),
        ):
            with pytest.raises(NotFoundError):
                await asked
    with acting_as(User("yuki")):
        assert (await service.page()).sessions == [own]
    assert await service.check() == 1


async def test_nobody_writes_without_a_name(service: SessionService) -> None:
    with acting_as(NOBODY), pytest.raises(AuthenticationError):
        await service.create()


async def test_answers_in_the_making_are_shown_as_far_as_they_got(service: SessionService, database: Database) -> None:
    turns = Turns(database, FakeDirectory())
    first = await turns.ask("x")
    await turns.finish(
        Ending(status="complete", content="whole"), Events(message_id=first.message_id, first=1, items=["w"])
    )
    begun = await turns.ask("y", session_id=first.session_id)
    call = {"type": "tool_call", "id": "1", "name": "f", "arguments": {}}
    for number in range(1, 4):
        await turns.save([Events(message_id=begun.message_id, first=number, items=[call if number == 2 else "a"])])
    messages = (await service.conversation(begun.session_id)).messages
    assert messages[1].content == "whole"
    assert (messages[3].content, messages[3].last_event_id, messages[3].status) == ("aa", 3, "streaming")
    assert [part["type"] for part in messages[3].parts] == ["message", "tool_call", "message"]
    assert await service.unfinished(begun.session_id) == [begun.message_id]
