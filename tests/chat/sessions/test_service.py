"""The rules of sessions: titles, pages, and which user may see what."""

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from tests.chat.sessions.turns import AGENT, Owner

from chie.access.identity import UNAUTHENTICATED, User, acting_as
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import EventChunk, MessageContent
from chie.chat.sessions.service import MAX_TITLE, TITLE_LENGTH, SessionService, make_title
from chie.errors import AuthenticationError, NotFoundError, ValidationError


@pytest.fixture
def service(database: Database) -> SessionService:
    return SessionService(database)


async def test_new_session_has_the_given_agent_and_title(service: SessionService) -> None:
    plain, named = await service.create(agent_id=AGENT), await service.create(agent_id="echo", title=" 障害\n対応 ")
    assert (plain.current_agent_id, plain.title) == (AGENT, "")
    assert (named.current_agent_id, named.title) == ("echo", "障害 対応")
    assert named.created_at == named.updated_at
    stored = await service.conversation(named.session_id)
    assert (stored.title, stored.messages, stored.created_at) == ("障害 対応", [], named.created_at)


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
def test_title_is_the_beginning_on_one_line(text: str, title: str) -> None:
    assert make_title(text) == title


async def test_given_title_may_be_longer_than_a_generated_one(service: SessionService) -> None:
    session = await service.create(agent_id=AGENT)
    changed = await service.change(session.session_id, title="知" * (MAX_TITLE + 1))
    assert changed.title == "知" * (MAX_TITLE - 1) + "…"


async def test_blank_title_is_rejected(service: SessionService) -> None:
    session = await service.create(agent_id=AGENT, title="x")
    with pytest.raises(ValidationError) as caught:
        await service.change(session.session_id, title=" \n")
    assert caught.value.code == "sessions.title_blank"


async def test_change_sets_only_the_given_fields(service: SessionService) -> None:
    session = await service.create(agent_id=AGENT, title="x")
    titled = await service.change(session.session_id, title="y")
    assert (titled.title, titled.current_agent_id) == ("y", "scripted")
    handed = await service.change(session.session_id, agent_id="echo")
    assert (handed.title, handed.current_agent_id) == ("y", "echo")
    assert await service.change(session.session_id) == handed


async def test_unknown_session_is_not_found(service: SessionService) -> None:
    for asked in (
        service.conversation("x"),
        service.change("x", title="y"),
        service.delete("x"),
        service.unfinished("x"),
    ):
        with pytest.raises(NotFoundError) as caught:
            await asked
        assert caught.value.code == "sessions.session_not_found"


async def test_cursors_lead_to_the_last_page(service: SessionService) -> None:
    made = [(await service.create(agent_id=AGENT, title=str(number))).session_id for number in range(4)]
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
async def test_cursors_do_not_depend_on_the_time_zone(service: SessionService) -> None:
    made = [(await service.create(agent_id=AGENT, title=str(number))).session_id for number in range(3)]
    first = await service.page(limit=1)
    assert [session.session_id for session in (await service.page(cursor=first.next_cursor)).sessions] == made[1::-1]


async def test_page_has_fifty_sessions_by_default(service: SessionService) -> None:
    for number in range(51):
        await service.create(agent_id=AGENT, title=str(number))
    page = await service.page(query="", cursor="")
    assert len(page.sessions) == 50
    assert page.next_cursor is not None


async def test_page_can_be_searched(service: SessionService) -> None:
    await service.create(agent_id=AGENT, title="nginx の障害")
    await service.create(agent_id=AGENT, title="other")
    assert [session.title for session in (await service.page(query="ＮＧＩＮＸ")).sessions] == ["nginx の障害"]


@pytest.mark.parametrize(
    "text", ["x", "知", "2024-01-01T00:00:00 x", f"x {UUID(int=1)}", f"2024-01-01T00:00:00+00:00\n{UUID(int=1)}"]
)
async def test_invalid_cursor_is_rejected(service: SessionService, text: str) -> None:
    for cursor in (text, base64.urlsafe_b64encode(text.encode()).decode()):
        with pytest.raises(ValidationError) as caught:
            await service.page(cursor=cursor)
        assert caught.value.code == "database.cursor_invalid"


async def test_deleted_session_is_gone_and_audited(service: SessionService, home: Path) -> None:
    kept, gone = await service.create(agent_id=AGENT), await service.create(agent_id=AGENT)
    await service.delete(gone.session_id)
    assert [session.session_id for session in (await service.page()).sessions] == [kept.session_id]
    line = json.loads((home / "audit.log").read_text(encoding="utf-8").splitlines()[-1])
    assert (line["kind"], line["id"]) == ("session.deleted", gone.session_id)


async def test_other_users_sessions_are_not_found(service: SessionService) -> None:
    with acting_as(User("yuki")):
        own = await service.create(agent_id=AGENT, title="mine")
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
        assert [one.session_id for one in (await service.page()).sessions] == [own.session_id]
    assert await service.check() == 1


async def test_unauthenticated_user_cannot_create_a_session(service: SessionService) -> None:
    with acting_as(UNAUTHENTICATED), pytest.raises(AuthenticationError):
        await service.create(agent_id=AGENT)


async def test_streaming_answer_has_what_was_saved(service: SessionService, database: Database) -> None:
    owner = Owner.on(database, "owner")
    first = await owner.ask("x")
    whole = MessageContent(status="complete", content="whole")
    await owner.answers.finish(whole, EventChunk(message_id=first.message_id, first=1, items=["w"]))
    pending = await owner.ask("y", session_id=first.session_id)
    call = {"type": "tool_call", "id": "1", "name": "f", "arguments": {}}
    for number in range(1, 4):
        items = [call if number == 2 else "a"]
        await owner.answers.save([EventChunk(message_id=pending.message_id, first=number, items=items)])
    messages = (await service.conversation(pending.session_id)).messages
    assert messages[1].content == "whole"
    assert (messages[3].content, messages[3].last_event_id, messages[3].status) == ("aa", 3, "streaming")
    assert [part["type"] for part in messages[3].parts] == ["message", "tool_call", "message"]
    assert await service.unfinished(pending.session_id) == [pending.message_id]
