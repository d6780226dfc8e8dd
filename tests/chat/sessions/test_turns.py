"""Questions and their empty answers: what is stored after each step, and what is rejected."""

import pytest
from tests.chat.sessions.turns import AGENT, Owner, messages

from chie.access.identity import User, acting_as
from chie.chat.sessions.database import Database
from chie.chat.sessions.service import SessionService
from chie.chat.sessions.turns import MAX_MESSAGE
from chie.errors import ConflictError, NotFoundError, ValidationError


@pytest.fixture
def owner(database: Database) -> Owner:
    return Owner.on(database, "owner")


@pytest.fixture
def sessions(database: Database) -> SessionService:
    return SessionService(database)


async def test_first_question_is_stored_with_an_empty_answer(owner: Owner, sessions: SessionService) -> None:
    pending = await owner.ask("何？\nこれは", agent_id="echo")
    conversation = await sessions.conversation(pending.session_id)
    question, answer = conversation.messages
    assert (conversation.title, conversation.current_agent_id) == ("何？ これは", "echo")
    assert (question.role, question.content, question.status, question.parent_id, question.agent_id) == (
        *("user", "何？\nこれは", "complete"),
        *(None, None),
    )
    assert (answer.role, answer.content, answer.status, answer.agent_id) == ("assistant", "", "streaming", "echo")
    assert (answer.parent_id, answer.message_id) == (question.message_id, pending.message_id)
    assert (pending.question, pending.history, pending.agent_id) == ("何？\nこれは", [], "echo")


async def test_question_sets_the_agent_of_its_session(owner: Owner) -> None:
    first = await owner.answered()
    assert (await owner.turns.session(first.session_id)).current_agent_id == AGENT
    second = await owner.answered("Next?", session_id=first.session_id, agent_id="echo")
    assert (await owner.turns.session(first.session_id)).current_agent_id == "echo"
    assert (await owner.turns.session_of(first.message_id)).current_agent_id == "echo"
    assert [(message.role, message.content) for message in second.history] == [("user", "何？"), ("assistant", "知恵")]


async def test_question_updates_the_date_of_its_session_and_not_the_title(
    owner: Owner, sessions: SessionService
) -> None:
    first = await owner.answered("first")
    second = await owner.answered("second", session_id=first.session_id)
    conversation = await sessions.conversation(first.session_id)
    assert conversation.title == "first"
    assert conversation.updated_at == conversation.messages[-1].created_at > conversation.created_at
    assert conversation.messages[-1].message_id == second.message_id


async def test_session_without_a_title_takes_it_from_the_question(owner: Owner, sessions: SessionService) -> None:
    session = await sessions.create(agent_id=AGENT)
    pending = await owner.ask("Title?", session_id=session.session_id)
    assert (await sessions.conversation(pending.session_id)).title == "Title?"


async def test_parent_needs_a_session(owner: Owner) -> None:
    with pytest.raises(ValidationError) as caught:
        await owner.ask("x", parent_id="p")
    assert caught.value.code == "sessions.parent_without_session"


async def test_parent_in_another_session_is_not_found(owner: Owner, sessions: SessionService) -> None:
    one, other = await owner.answered(), await owner.answered()
    empty = await sessions.create(agent_id=AGENT)
    for session_id in (one.session_id, empty.session_id):
        with pytest.raises(NotFoundError) as caught:
            await owner.ask("x", session_id=session_id, parent_id=other.message_id)
        assert caught.value.code == "sessions.parent_not_found"


async def test_first_question_of_an_empty_session_has_no_parent(owner: Owner, sessions: SessionService) -> None:
    session = await sessions.create(agent_id=AGENT)
    pending = await owner.ask("x", session_id=session.session_id)
    assert (await messages(sessions, pending))[0].parent_id is None


async def test_question_cannot_be_a_parent(owner: Owner, sessions: SessionService) -> None:
    pending = await owner.answered()
    question = (await messages(sessions, pending))[0]
    with pytest.raises(ValidationError) as caught:
        await owner.ask("x", session_id=pending.session_id, parent_id=question.message_id)
    assert caught.value.code == "sessions.parent_not_an_answer"


async def test_next_question_has_to_wait_for_the_answer(owner: Owner) -> None:
    pending = await owner.ask("x")
    with pytest.raises(ConflictError) as caught:
        await owner.ask("y", session_id=pending.session_id)
    assert caught.value.code == "sessions.answer_in_progress"
    assert caught.value.reason.params == {"message_id": pending.message_id}
    assert f"`POST /api/chat/{pending.message_id}/stop`" in caught.value.message


async def test_parent_starts_a_branch_without_the_other_branch_in_its_history(owner: Owner) -> None:
    first = await owner.answered("one")
    await owner.answered("two", session_id=first.session_id)
    branch = await owner.ask("three", session_id=first.session_id, parent_id=first.message_id)
    assert [message.content for message in branch.history] == ["one", "知恵"]


@pytest.mark.parametrize(
    ("text", "code", "params"),
    [
        (" \n", "sessions.message_required", {}),
        ("a\x00", "sessions.message_has_nul", {}),
        ("知" * (MAX_MESSAGE + 1), "sessions.message_too_long", {"length": MAX_MESSAGE + 1, "limit": MAX_MESSAGE}),
    ],
)
async def test_invalid_question_is_rejected(
    owner: Owner, sessions: SessionService, text: str, code: str, params: dict[str, int]
) -> None:
    pending = await owner.answered()
    question = (await messages(sessions, pending))[0].message_id
    for rejected in (owner.ask(text), owner.turns.edit(question, text, agent_id=AGENT)):
        with pytest.raises(ValidationError) as caught:
            await rejected
        assert (caught.value.code, caught.value.reason.params) == (code, params)


async def test_longest_question_is_accepted(owner: Owner) -> None:
    assert len((await owner.ask("知" * MAX_MESSAGE)).question) == MAX_MESSAGE


async def test_edited_question_is_a_sibling_of_the_old_one(owner: Owner, sessions: SessionService) -> None:
    await owner.answered("another session")
    first = await owner.answered("one")
    await owner.answered("two", session_id=first.session_id)
    old = (await messages(sessions, first))[2]
    edited = await owner.turns.edit(old.message_id, "zwei", agent_id="echo")
    question, answer = (await messages(sessions, first))[4:]
    assert (question.content, question.parent_id) == ("zwei", old.parent_id)
    assert (answer.message_id, answer.agent_id) == (edited.message_id, "echo")
    assert [message.content for message in edited.history] == ["one", "知恵"]


async def test_answer_cannot_be_edited(owner: Owner) -> None:
    pending = await owner.answered()
    with pytest.raises(ValidationError) as caught:
        await owner.turns.edit(pending.message_id, "x", agent_id=AGENT)
    assert caught.value.code == "sessions.not_a_question"


async def test_regenerated_answer_has_the_same_question(owner: Owner, sessions: SessionService) -> None:
    first = await owner.answered("one")
    second = await owner.answered("two", session_id=first.session_id)
    question = (await messages(sessions, first))[2]
    for chosen in (second.message_id, question.message_id):
        pending = await owner.turns.regenerate(chosen, agent_id="echo")
        await owner.finish(pending)
        assert (pending.question, pending.agent_id) == ("two", "echo")
        assert [message.content for message in pending.history] == ["one", "知恵"]
    stored = await messages(sessions, first)
    assert [message.role for message in stored[4:]] == ["assistant", "assistant"]
    assert {message.parent_id for message in stored[3:]} == {question.message_id}


async def test_streaming_answer_cannot_be_regenerated(owner: Owner) -> None:
    pending = await owner.ask("x")
    with pytest.raises(ConflictError) as caught:
        await owner.turns.regenerate(pending.message_id, agent_id=AGENT)
    assert caught.value.code == "sessions.answer_in_progress"


async def test_unknown_message_or_session_is_not_found(owner: Owner) -> None:
    for request, code in (
        (owner.turns.edit("x", "y", agent_id=AGENT), "sessions.message_not_found"),
        (owner.turns.regenerate("x", agent_id=AGENT), "sessions.message_not_found"),
        (owner.turns.session_of("x"), "sessions.message_not_found"),
        (owner.ask("y", session_id="x"), "sessions.session_not_found"),
        (owner.turns.session("x"), "sessions.session_not_found"),
    ):
        with pytest.raises(NotFoundError) as caught:
            await request
        assert caught.value.code == code


async def test_other_users_messages_are_not_found(owner: Owner) -> None:
    with acting_as(User("yuki")):
        pending = await owner.answered()
    with acting_as(User("ken", admin=True)):
        for request in (
            owner.turns.regenerate(pending.message_id, agent_id=AGENT),
            owner.turns.session_of(pending.message_id),
            owner.turns.session(pending.session_id),
            owner.ask("x", session_id=pending.session_id),
        ):
            with pytest.raises(NotFoundError):
                await request
