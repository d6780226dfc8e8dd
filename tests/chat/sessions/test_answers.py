"""Saving the events of an answer, finishing it, and losing its lease."""

import pytest
from tests.chat.sessions.turns import Owner, chunk, final, messages

from chie.access.identity import User, acting_as
from chie.chat.sessions import commands
from chie.chat.sessions.answer_builder import AnswerBuilder
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import EventChunk, MessageContent
from chie.chat.sessions.service import SessionService
from chie.errors import NotFoundError, ServiceError


@pytest.fixture
def owner(database: Database) -> Owner:
    return Owner.on(database, "owner")


@pytest.fixture
def other(database: Database) -> Owner:
    return Owner.on(database, "other")


@pytest.fixture
def sessions(database: Database) -> SessionService:
    return SessionService(database)


async def test_questions_and_unknown_ids_are_not_answers(owner: Owner, sessions: SessionService) -> None:
    pending = await owner.answered()
    question = (await messages(sessions, pending))[0].message_id
    for request in (owner.answers.get("x"), owner.answers.get(question), owner.answers.events("x", 0)):
        with pytest.raises(NotFoundError) as caught:
            await request
        assert caught.value.code == "sessions.answer_not_found"


async def test_other_users_answers_are_not_found(owner: Owner) -> None:
    with acting_as(User("yuki")):
        pending = await owner.answered()
    with acting_as(User("ken", admin=True)), pytest.raises(NotFoundError):
        await owner.answers.get(pending.message_id)


async def test_streaming_answer_has_what_was_saved(owner: Owner) -> None:
    pending = await owner.ask("x")
    saved = await owner.answers.save([chunk(pending, "知", "恵")])
    assert (saved.lost, saved.has_commands) == (set(), False)
    growing = await owner.answers.get(pending.message_id)
    assert (growing.content, growing.status, growing.last_event_id) == ("知恵", "streaming", 2)
    await owner.answers.save([chunk(pending, "は", first=3)])
    answer, chunks = await owner.answers.events(pending.message_id, 2)
    assert (answer.message_id, chunks) == (pending.message_id, [chunk(pending, "は", first=3)])
    assert await owner.answers.events(pending.message_id, 3) == (answer, [])


async def test_empty_answer_matches_no_search(owner: Owner, sessions: SessionService) -> None:
    await owner.ask("何？")
    assert len((await sessions.page(query="何")).sessions) == 1
    assert (await sessions.page(query="x")).sessions == []


async def test_chunks_may_be_saved_in_any_order(owner: Owner) -> None:
    pending = await owner.ask("x")
    await owner.answers.save([chunk(pending, "b", first=2)])
    await owner.answers.save([chunk(pending, "a")])
    assert (await owner.answers.get(pending.message_id)).content == "ab"


async def test_streaming_answer_is_complete_with_many_chunks(owner: Owner) -> None:
    pending = await owner.ask("x")
    await owner.answers.save([chunk(pending, "a", first=number) for number in range(1, 1502)])
    assert (await owner.answers.get(pending.message_id)).content == "a" * 1501


async def test_repeated_save_replaces_the_events_of_the_first_attempt(owner: Owner) -> None:
    one, two = await owner.ask("x"), await owner.ask("y")
    await owner.answers.save([chunk(one, "a"), chunk(two, "A")])
    await owner.answers.save([chunk(one, "b", first=2)])
    await owner.answers.save([chunk(one, "b", "c", first=2), chunk(two, "B")], replace_events=True)
    assert (await owner.answers.get(one.message_id)).content == "abc"
    assert (await owner.answers.get(two.message_id)).content == "B"


async def test_events_of_a_lost_answer_are_dropped_and_reported(owner: Owner, other: Owner) -> None:
    ours, theirs = await owner.ask("x"), await other.ask("y")
    saved = await owner.answers.save([chunk(ours, "a"), chunk(theirs, "b")])
    assert saved.lost == {theirs.message_id}
    assert (await owner.answers.get(theirs.message_id)).content == ""
    assert (await owner.answers.get(ours.message_id)).content == "a"
    assert (await owner.answers.save([chunk(theirs, "b")])).lost == {theirs.message_id}


async def test_save_reports_waiting_commands(owner: Owner, database: Database) -> None:
    pending = await owner.ask("x")

    async def insert(connection: Connection) -> None:
        await commands.insert_command(connection, pending.message_id, "stop", None)

    await database.write(insert)
    assert (await owner.answers.save([chunk(pending, "a")])).has_commands


async def test_answer_finishes_once_with_its_last_events(owner: Owner) -> None:
    pending = await owner.ask("x")
    await owner.answers.save([chunk(pending, "知")])
    assert await owner.answers.finish(final(events=2), chunk(pending, "恵", first=2))
    answer, chunks = await owner.answers.events(pending.message_id, 0)
    assert (answer.status, answer.content) == ("complete", "知恵")
    assert [one.items for one in chunks] == [["知"], ["恵"]]
    assert await owner.answers.finish(final(events=2), chunk(pending, "恵", first=2)) is None


async def test_repeated_finish_succeeds_only_with_the_same_outcome(owner: Owner) -> None:
    pending = await owner.ask("x")
    rest = chunk(pending, "知", "恵")
    assert await owner.answers.finish(final(events=2), rest, replace_events=True)
    assert await owner.answers.finish(final(events=2), rest, replace_events=True)
    assert not await owner.answers.finish(final(events=3), rest, replace_events=True)
    stopped = MessageContent(status="stopped", content="知恵", last_event_id=2)
    assert not await owner.answers.finish(stopped, rest, replace_events=True)
    deleted = EventChunk(message_id="deleted", first=1, items=["x"])
    assert not await owner.answers.finish(final(), deleted, replace_events=True)


async def test_repeated_finish_replaces_the_events_of_the_first_attempt(owner: Owner) -> None:
    pending = await owner.ask("x")
    await owner.answers.save([chunk(pending, "知")])
    assert await owner.answers.finish(final(events=2), chunk(pending, "知", "恵"), replace_events=True)
    _, chunks = await owner.answers.events(pending.message_id, 0)
    assert [one.items for one in chunks] == [["知", "恵"]]


async def test_code_and_params_of_an_error_are_stored(owner: Owner) -> None:
    pending = await owner.ask("x")
    failed = AnswerBuilder().final("failed", error=ServiceError("chat.agent_failed", request_id="abc"))
    assert await owner.answers.finish(failed, chunk(pending, "x"))
    answer = await owner.answers.get(pending.message_id)
    assert (answer.status, answer.error_code, answer.error_params) == (
        "failed",
        "chat.agent_failed",
        {"request_id": "abc"},
    )
    assert answer.error is not None
    assert "under request abc" in answer.error


async def test_renewal_reports_lost_leases(owner: Owner, other: Owner) -> None:
    ours, theirs = await owner.ask("x"), await other.ask("y")
    assert await owner.answers.renew_leases([ours.message_id, theirs.message_id]) == {theirs.message_id}
    assert await owner.answers.renew_leases([]) == set()
