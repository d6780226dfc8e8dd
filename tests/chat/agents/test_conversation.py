"""A conversation with tool calls, as models take it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chie.chat.agents.base import Turn
from chie.chat.agents.context_budget import LEFT_OUT, fitted, size
from chie.chat.agents.conversation import CUT_OFF, NO_RESULT, conversation, in_words
from chie.chat.models.chunks import Call
from chie.chat.models.messages import AssistantMessage, CallResult, ChatMessage, ToolMessage, UserMessage


def text(content: str) -> dict[str, Any]:
    return {"type": "message", "content": content}


def call(number: str, **arguments: object) -> dict[str, Any]:
    return {"type": "tool_call", "id": number, "name": "notes", "arguments": arguments, "approval": "required"}


def result(number: str, content: str, *, is_error: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "id": number, "name": "notes", "content": content, "is_error": is_error}


def answer(*parts: dict[str, Any]) -> Turn:
    said = "".join(part["content"] for part in parts if part["type"] == "message")
    return {"role": "assistant", "content": said, "parts": list(parts)}


def ask(content: str) -> Turn:
    return {"role": "user", "content": content}


@pytest.mark.req("AG-1")
def test_rounds_of_calls_are_replayed_with_their_results() -> None:
    turn = answer(
        text("Let me see."),
        call("a", q="障害"),
        call("b"),
        result("b", "two"),
        result("a", "one"),
        call("c"),
        result("c", "refused", is_error=True),
        text("\n\nDone."),
    )
    assert conversation([ask("find"), turn], "delete it") == [
        UserMessage("find"),
        AssistantMessage("Let me see.", (Call("a", "notes", '{"q": "障害"}'), Call("b", "notes", "{}"))),
        ToolMessage((CallResult("a", "one", is_error=False), CallResult("b", "two", is_error=False))),
        AssistantMessage("", (Call("c", "notes", "{}"),)),
        ToolMessage((CallResult("c", "refused", is_error=True),)),
        AssistantMessage("Done."),
        UserMessage("delete it"),
    ]


@pytest.mark.req("AG-1")
def test_a_call_that_was_cut_off_has_a_result_that_says_so() -> None:
    messages = conversation([ask("find"), answer(text("Wait."), call("a"))], "go on")
    assert messages[1:] == [
        AssistantMessage("Wait.", (Call("a", "notes", "{}"),)),
        ToolMessage((CallResult("a", NO_RESULT, is_error=True),)),
        AssistantMessage(CUT_OFF),
        UserMessage("go on"),
    ]


@pytest.mark.req("AG-1")
def test_ids_that_repeat_or_that_a_provider_refuses_are_replaced() -> None:
    turn = answer(call("call:0!"), result("call:0!", "x"), text("ok"))
    messages = conversation([ask("1"), turn, ask("2"), turn], "3")
    calls = [one.id for message in messages if isinstance(message, AssistantMessage) for one in message.calls]
    assert len(set(calls)) == 2
    assert all(one.replace("_", "").isalnum() for one in calls)
    results = [one.id for message in messages if isinstance(message, ToolMessage) for one in message.results]
    assert results == calls


@pytest.mark.req("AG-1")
def test_a_model_without_tools_reads_the_calls_as_text() -> None:
    turn = answer(text("Let me see."), call("a", q="x"), result("a", "one"), text("It is one."))
    assert in_words(conversation([ask("find"), turn], "again")) == [
        UserMessage("find"),
        AssistantMessage(
            'Let me see.\n\n[The tool notes with the arguments {"q": "x"} returned:\none]\n\nIt is one.',
        ),
        UserMessage("again"),
    ]


ids = st.sampled_from(["a", "b", "c", "call_0", "call_1", "?"])
parts = st.lists(
    st.one_of(
        st.builds(text, st.sampled_from(["", " ", "text"])),
        st.builds(call, ids),
        st.builds(result, ids, st.sampled_from(["", "found"])),
        st.just({"type": "done", "finish": "length"}),
    ),
    max_size=12,
)
turns = st.lists(
    st.one_of(st.builds(ask, st.sampled_from(["", "q"])), parts.map(lambda some: answer(*some))), max_size=6
)


def _role(message: ChatMessage) -> str:
    return "assistant" if isinstance(message, AssistantMessage) else "user"


@pytest.mark.req("AG-1")
@given(history=turns)
def test_any_history_alternates_and_pairs_calls_with_results(history: list[Turn]) -> None:
    messages = conversation(history, "the newest question")
    assert isinstance(messages[-1], UserMessage)
    assert messages[-1].content.endswith("the newest question")
    roles = [_role(message) for message in messages]
    assert roles == ["user" if position % 2 == 0 else "assistant" for position in range(len(roles))]
    seen: list[str] = []
    for message, following in zip(messages, [*messages[1:], None], strict=True):
        if isinstance(message, AssistantMessage) and message.calls:
            assert isinstance(following, ToolMessage)
            assert [one.id for one in following.results] == [one.id for one in message.calls]
            seen += [one.id for one in message.calls]
        if isinstance(message, AssistantMessage):
            assert message.content.strip() or message.calls
    assert len(seen) == len(set(seen))
    assert not any(isinstance(message, ToolMessage) for message in in_words(messages))


@pytest.mark.req("AG-2")
@given(history=turns, tokens=st.integers(1, 400))
def test_any_history_fits_and_keeps_the_newest_question_whole(history: list[Turn], tokens: int) -> None:
    long = [ask(turn["content"] * 40) if turn["role"] == "user" else turn for turn in history]
    messages = conversation(long, "the newest question " * 8)
    fit = fitted(messages, tokens)
    assert "the newest question " * 8 in str(fit)
    assert isinstance(fit[0], UserMessage)
    questions = [message for message in fit if isinstance(message, UserMessage)]
    assert size(fit) <= max(tokens, size(messages)) + size([UserMessage(LEFT_OUT)])
    assert size(fit) <= tokens + size([UserMessage(LEFT_OUT)]) or len(questions) == 1
    for message, following in zip(fit, [*fit[1:], None], strict=True):
        if isinstance(message, AssistantMessage) and message.calls:
            assert isinstance(following, ToolMessage)
            assert [one.id for one in following.results] == [one.id for one in message.calls]


@pytest.mark.req("AG-2")
def test_old_results_are_shortened_before_anything_is_left_out() -> None:
    old = answer(call("a"), result("a", "x" * 9_000), text("It is x."))
    messages = conversation([ask("one"), old, ask("two"), answer(call("b"), result("b", "y" * 900))], "three")
    fit = fitted(messages, 1_000)
    assert [type(message) for message in fit] == [type(message) for message in messages]
    shortened, whole = (message.results[0].content for message in fit if isinstance(message, ToolMessage))
    assert shortened.startswith("x" * 400)
    assert "8600 more characters" in shortened
    assert whole == "y" * 900
