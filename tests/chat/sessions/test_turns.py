"""The rules of a turn, asked directly: what is on disk after each step, and what is refused in which words."""

import pytest
from tests.fakes.agents import FakeDirectory

from chie.access.identity import User, acting_as
from chie.chat.agents.base import Turn
from chie.chat.runs.command_queue import Orders
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import Ending, Events, Message
from chie.chat.sessions.service import SessionService
from chie.chat.sessions.turns import MAX_MESSAGE, Beginning, Turns
from chie.errors import ConflictError, NotFoundError, ValidationError

NO_MESSAGE = "no message has this id. GET /api/sessions/{session_id} lists a session's messages."
NO_ANSWER = "no answer has this id. X-Chie-Message names an answer when it begins."
NO_SESSION = "no session has this id. GET /api/sessions lists those that exist."


@pytest.fixture
def turns(database: Database) -> Turns:
    return Turns(database, FakeDirectory())


@pytest.fixture
def sessions(database: Database) -> SessionService:
    return SessionService(database, FakeDirectory())


def words(begun: Beginning, *items: str, first: int = 1) -> Events:
    return Events(message_id=begun.message_id, first=first, items=list(items))


def ending(content: str = "知恵", *, events: int = 1) -> Ending:
    return Ending(status="complete", content=content, last_event_id=events)


async def answered(turns: Turns, question: str = "何？", **where: str) -> Beginning:
    begun = await turns.ask(question, **where)
    assert await turns.finish(ending(), words(begun, "知恵"))
    return begun


async def messages(sessions: SessionService, begun: Beginning) -> list[Message]:
    return (await sessions.conversation(begun.session_id)).messages


async def test_a_first_question_is_on_disk_with_an_empty_answer_to_it(turns: Turns, sessions: SessionService) -> None:
    begun = await turns.ask("何？\nこれは", agent_id="echo")
    conversation = await sessions.conversation(begun.session_id)
    question, answer = conversation.messages
    assert (conversation.title, conversation.current_agent_id) == ("何？ これは", "echo")
    assert (question.role, question.content, question.status, question.parent_id, question.agent_id) == (
        *("user", "何？\nこれは", "complete"),
        *(None, None),
    )
    assert (answer.role, answer.content, answer.status, answer.agent_id) == ("assistant", "", "streaming", "echo")
    assert (answer.parent_id, answer.message_id) == (question.message_id, begun.message_id)
    assert (begun.message, begun.history, begun.agent.agent_id) == ("何？\nこれは", [], "echo")


async def test_without_an_agent_the_first_of_the_house_answers_and_then_whoever_did(turns: Turns) -> None:
    first = await answered(turns)
    assert first.agent.agent_id == "scripted"
    other = await answered(turns, "Next?", session_id=first.session_id, agent_id="echo")
    again = await turns.ask("And?", session_id=first.session_id)
    assert (other.agent.agent_id, again.agent.agent_id) == ("echo", "echo")
    assert again.history == [
        *(Turn(role="user", content="何？"), Turn(role="assistant", content="知恵")),
        *(Turn(role="user", content="Next?"), Turn(role="assistant", content="知恵")),
    ]


async def test_a_question_dates_its_session_and_leaves_its_title(turns: Turns, sessions: SessionService) -> None:
    first = await answered(turns, "first")
    second = await answered(turns, "second", session_id=first.session_id)
    conversation = await sessions.conversation(first.session_id)
    assert conversation.title == "first"
    assert conversation.updated_at == conversation.messages[-1].created_at > conversation.created_at
    assert conversation.messages[-1].message_id == second.message_id


async def test_a_session_without_a_title_takes_it_from_the_question(turns: Turns, sessions: SessionService) -> None:
    session = await sessions.create()
    begun = await turns.ask("Title?", session_id=session.session_id)
    assert (await sessions.conversation(begun.session_id)).title == "Title?"


async def test_a_parent_needs_its_session(turns: Turns) -> None:
    with pytest.raises(ValidationError) as caught:
        await turns.ask("x", parent_id="p")
    assert caught.value.message == "parent_id needs a session_id: say which session the parent belongs to."


async def test_a_parent_of_another_session_is_not_found(turns: Turns) -> None:
    one, other = await answered(turns), await answered(turns)
    with pytest.raises(NotFoundError) as caught:
        await turns.ask("x", session_id=one.session_id, parent_id=other.message_id)
    assert caught.value.message == "no message of this session has the id that parent_id names."


async def test_a_session_without_messages_has_no_parent_to_name(turns: Turns, sessions: SessionService) -> None:
    session = await sessions.create()
    begun = await turns.ask("x", session_id=session.session_id)
    assert (await messages(sessions, begun))[0].parent_id is None


async def test_a_question_is_no_parent(turns: Turns, sessions: SessionService) -> None:
    begun = await answered(turns)
    question = (await messages(sessions, begun))[0]
    with pytest.raises(ValidationError) as caught:
        await turns.ask("x", session_id=begun.session_id, parent_id=question.message_id)
    assert caught.value.message == "parent_id must name an answer: a question follows an answer."


async def test_while_an_answer_is_written_there_is_no_next_question(turns: Turns) -> None:
    begun = await turns.ask("x")
    with pytest.raises(ConflictError) as caught:
        await turns.ask("y", session_id=begun.session_id)
    assert caught.value.message == (
        "the last answer is still being written. Wait for it, or stop it with "
        f"POST /api/chat/{begun.message_id}/stop, then try again."
    )


async def test_a_named_parent_makes_a_branch_that_knows_nothing_of_the_other(turns: Turns) -> None:
    first = await answered(turns, "one")
    await answered(turns, "two", session_id=first.session_id)
    branch = await turns.ask("three", session_id=first.session_id, parent_id=first.message_id)
    assert [turn["content"] for turn in branch.history] == ["one", "知恵"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" \n", "message is required: write what you want to ask."),
        ("a\x00", "message has a NUL character: send plain text."),
        (
            "知" * (MAX_MESSAGE + 1),
            "message is too long: 200,001 characters, at most 200,000. Split it into several.",
        ),
    ],
)
async def test_what_is_no_question_is_refused_wherever_it_is_given(turns: Turns, text: str, message: str) -> None:
    begun = await answered(turns)
    for refused in (turns.ask(text), turns.edit(begun.message_id, text)):
        with pytest.raises(ValidationError) as caught:
            await refused
        assert caught.value.message == message


async def test_the_longest_question_is_taken(turns: Turns) -> None:
    assert len((await turns.ask("知" * MAX_MESSAGE)).message) == MAX_MESSAGE


async def test_an_edited_question_stands_beside_the_old_one(turns: Turns, sessions: SessionService) -> None:
    await answered(turns, "another session")
    first = await answered(turns, "one")
    await answered(turns, "two", session_id=first.session_id)
    old = (await messages(sessions, first))[2]
    edited = await turns.edit(old.message_id, "zwei", agent_id="echo")
    question, answer = (await messages(sessions, first))[4:]
    assert (question.content, question.parent_id) == ("zwei", old.parent_id)
    assert (answer.message_id, answer.agent_id) == (edited.message_id, "echo")
    assert [turn["content"] for turn in edited.history] == ["one", "知恵"]


async def test_an_answer_is_not_edited(turns: Turns) -> None:
    begun = await answered(turns)
    with pytest.raises(ValidationError) as caught:
        await turns.edit(begun.message_id, "x")
    assert caught.value.message == "only a question can be edited: give the id of a message whose role is user."


async def test_another_answer_follows_the_same_question(turns: Turns, sessions: SessionService) -> None:
    first = await answered(turns, "one")
    second = await answered(turns, "two", session_id=first.session_id)
    question = (await messages(sessions, first))[2]
    for chosen in (second.message_id, question.message_id):
        begun = await turns.regenerate(chosen, agent_id="echo")
        assert await turns.finish(ending(), words(begun, "x"))
        assert (begun.message, begun.agent.agent_id) == ("two", "echo")
        assert [turn["content"] for turn in begun.history] == ["one", "知恵"]
    stored = await messages(sessions, first)
    assert [message.role for message in stored[4:]] == ["assistant", "assistant"]
    assert {message.parent_id for message in stored[3:]} == {question.message_id}


async def test_an_answer_that_is_being_written_has_no_other_beside_it(turns: Turns) -> None:
    begun = await turns.ask("x")
    with pytest.raises(ConflictError, match="still being written"):
        await turns.regenerate(begun.message_id)


async def test_what_does_not_exist_is_said_to_be_a_message_or_an_answer(turns: Turns, sessions: SessionService) -> None:
    begun = await answered(turns)
    question = (await messages(sessions, begun))[0].message_id
    for asked, message in (
        (turns.edit("x", "y"), NO_MESSAGE),
        (turns.regenerate("x"), NO_MESSAGE),
        (turns.answer("x"), NO_ANSWER),
        (turns.answer(question), NO_ANSWER),
        (turns.events("x", 0), NO_ANSWER),
        (turns.ask("y", session_id="x"), NO_SESSION),
    ):
        with pytest.raises(NotFoundError) as caught:
            await asked
        assert caught.value.message == message


async def test_what_is_somebody_elses_is_not_there(turns: Turns) -> None:
    with acting_as(User("yuki")):
        begun = await answered(turns)
    with acting_as(User("ken", admin=True)):
        for asked in (
            turns.answer(begun.message_id),
            turns.regenerate(begun.message_id),
            turns.ask("x", session_id=begun.session_id),
        ):
            with pytest.raises(NotFoundError):
                await asked


async def test_an_answer_grows_by_what_is_saved(turns: Turns) -> None:
    begun = await turns.ask("x")
    saved = await turns.save([words(begun, "知", "恵")])
    assert (saved.lost, saved.asked) == (set(), False)
    growing = await turns.answer(begun.message_id)
    assert (growing.content, growing.status, growing.last_event_id) == ("知恵", "streaming", 2)
    await turns.save([words(begun, "は", first=3)])
    answer, stretches = await turns.events(begun.message_id, 2)
    assert (answer.message_id, stretches) == (begun.message_id, [words(begun, "は", first=3)])
    assert await turns.events(begun.message_id, 3) == (answer, [])


async def test_an_answer_without_a_word_is_found_by_no_search(turns: Turns, sessions: SessionService) -> None:
    await turns.ask("何？")
    assert len((await sessions.page(query="何")).sessions) == 1
    assert (await sessions.page(query="x")).sessions == []


async def test_stretches_may_arrive_in_any_order(turns: Turns) -> None:
    begun = await turns.ask("x")
    await turns.save([words(begun, "b", first=2)])
    await turns.save([words(begun, "a")])
    assert (await turns.answer(begun.message_id)).content == "ab"


async def test_a_growing_answer_is_shown_whole_however_many_pieces_it_has(turns: Turns) -> None:
    begun = await turns.ask("x")
    await turns.save([words(begun, "a", first=number) for number in range(1, 1502)])
    assert (await turns.answer(begun.message_id)).content == "a" * 1501


async def test_saving_again_replaces_what_may_have_arrived(turns: Turns) -> None:
    one, other = await turns.ask("x"), await turns.ask("y")
    await turns.save([words(one, "a"), words(other, "A")])
    await turns.save([words(one, "b", first=2)])
    await turns.save([words(one, "b", "c", first=2), words(other, "B")], again=True)
    assert (await turns.answer(one.message_id)).content == "abc"
    assert (await turns.answer(other.message_id)).content == "B"


async def test_what_is_no_longer_ours_is_dropped_and_named(turns: Turns, database: Database) -> None:
    elsewhere = Turns(database, FakeDirectory())
    ours, theirs = await turns.ask("x"), await elsewhere.ask("y")
    saved = await turns.save([words(ours, "a"), words(theirs, "b")])
    assert saved.lost == {theirs.message_id}
    assert (await turns.answer(theirs.message_id)).content == ""
    assert (await turns.answer(ours.message_id)).content == "a"
    assert (await turns.save([words(theirs, "b")])).lost == {theirs.message_id}


async def test_saving_says_whether_somebody_asks_for_something(turns: Turns, database: Database) -> None:
    begun = await turns.ask("x")
    await Orders(database, "elsewhere").give(begun.message_id, "stop")
    assert (await turns.save([words(begun, "a")])).asked


async def test_an_end_comes_with_its_last_events_and_only_once(turns: Turns) -> None:
    begun = await turns.ask("x")
    await turns.save([words(begun, "知")])
    assert await turns.finish(ending(events=2), words(begun, "恵", first=2))
    answer, stretches = await turns.events(begun.message_id, 0)
    assert (answer.status, answer.content) == ("complete", "知恵")
    assert [stretch.items for stretch in stretches] == [["知"], ["恵"]]
    assert await turns.finish(ending(events=2), words(begun, "恵", first=2)) is False


async def test_an_end_that_had_arrived_is_an_end_and_another_is_not(turns: Turns) -> None:
    begun = await turns.ask("x")
    rest = words(begun, "知", "恵")
    assert await turns.finish(ending(events=2), rest, again=True)
    assert await turns.finish(ending(events=2), rest, again=True)
    assert not await turns.finish(ending(events=3), rest, again=True)
    stopped = Ending(status="stopped", content="知恵", last_event_id=2)
    assert not await turns.finish(stopped, rest, again=True)
    gone = Events(message_id="gone", first=1, items=["x"])
    assert not await turns.finish(ending(), gone, again=True)


async def test_an_end_sent_again_replaces_the_events_that_had_arrived(turns: Turns) -> None:
    begun = await turns.ask("x")
    await turns.save([words(begun, "知")])
    assert await turns.finish(ending(events=2), words(begun, "知", "恵"), again=True)
    _, stretches = await turns.events(begun.message_id, 0)
    assert [stretch.items for stretch in stretches] == [["知", "恵"]]


async def test_those_that_are_no_longer_ours_are_told_when_we_stay_alive(turns: Turns, database: Database) -> None:
    ours, theirs = await turns.ask("x"), await Turns(database, FakeDirectory()).ask("y")
    assert await turns.stay_alive([ours.message_id, theirs.message_id]) == {theirs.message_id}
    assert await turns.stay_alive([]) == set()


async def test_a_house_has_an_owners_mark_of_its_own_and_the_databases_bell(turns: Turns, database: Database) -> None:
    assert turns.owner != Turns(database, FakeDirectory()).owner
    assert turns.bell is database.bell
