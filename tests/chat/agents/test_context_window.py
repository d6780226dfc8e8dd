"""Any conversation fits into a model's context, whatever its length and however its server counts the tokens."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chie.chat.agents.context_budget import LEFT_OUT, SUMMARISED, Summary, budget, fitted, size
from chie.chat.agents.context_window import READ_RESULT, ContextWindow
from chie.chat.agents.conversation import earlier_summary
from chie.chat.agents.summaries import SummaryCache, summarise
from chie.chat.events import SummaryText, Usage
from chie.chat.models.base import ChatModel, Prompt
from chie.chat.models.chunks import Call, Chunk, End, TextDelta
from chie.chat.models.errors import ContextError
from chie.chat.models.messages import AssistantMessage, CallResult, ChatMessage, ToolMessage, UserMessage

pytestmark = pytest.mark.req("AG-2")


class Writer(ChatModel):
    """Writes summaries; refuses more than its context, as it counts the tokens."""

    name = "writer"

    def __init__(self, context: int | None = None, *, real: int = 10**9, per_character: float = 0.3) -> None:
        self.context = context
        self.real = real
        self.per_character = per_character
        self.prompts: list[Prompt] = []

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Chunk, None]:
        self.prompts.append(prompt)
        used = int(self.per_character * len(str(prompt.messages)))
        if used > self.real:
            raise ContextError("models.conversation_too_long", limit=self.real, used=used, url="u", status=400)
        yield TextDelta(f"summary {len(self.prompts)}")
        yield End(Usage(input_tokens=used, output_tokens=2))

    async def check(self) -> None: ...

    async def close(self) -> None: ...


def exchange(number: int, length: int = 300) -> list[ChatMessage]:
    return [UserMessage(f"question {number} " + "q" * length), AssistantMessage(f"answer {number} " + "あ" * length)]


def used_tool(call_id: str, content: str) -> list[ChatMessage]:
    call = AssistantMessage("", (Call(call_id, "search", "{}"),))
    return [call, ToolMessage((CallResult(call_id, content, is_error=False),)), AssistantMessage("found")]


def long(questions: int, length: int = 300) -> list[ChatMessage]:
    return [one for number in range(questions) for one in exchange(number, length)] + [UserMessage("the newest")]


async def compacted(window: ContextWindow) -> list[SummaryText]:
    await window.open("system", [])
    return [event async for event in window.compact()]


async def test_a_conversation_that_fits_is_sent_as_it_is() -> None:
    window = ContextWindow(model=Writer(50_000), messages=long(3))
    assert await compacted(window) == []
    assert window.fitted() == window.messages
    assert not window.is_shortened


async def test_the_oldest_turns_are_summarised_before_the_limit_is_reached() -> None:
    model = Writer(4_000)
    window = ContextWindow(model=model, messages=long(20))
    announced, summary = await compacted(window)
    assert announced == {"type": "summary", "questions": summary["questions"]}
    assert 10 < summary["questions"] < 20
    first, *rest = window.fitted()
    assert isinstance(first, UserMessage)
    assert first.content.startswith(f"{SUMMARISED}\nsummary")
    assert rest[-1] == UserMessage("the newest")
    assert size([first, *rest]) <= budget(4_000)
    assert window.usage is not None
    assert window.usage["output_tokens"] == 2 * len(model.prompts)
    assert await compacted(window) == [], "the next summary is some turns away"


async def test_the_next_summary_continues_the_last_one() -> None:
    model = Writer(4_000)
    window = ContextWindow(model=model, messages=long(20), summary=Summary(15, "what was before"))
    window.messages[-1:] = [*exchange(20, 900), *exchange(21, 900), UserMessage("the newest")]
    *_, summary = await compacted(window)
    assert summary["questions"] > 15
    [told] = [message.content for message in model.prompts[0].messages if isinstance(message, UserMessage)]
    assert "what was before" in told
    assert "question 15" in told
    assert "question 14" not in told


async def test_a_model_that_reads_more_gets_the_whole_conversation_again() -> None:
    window = ContextWindow(model=Writer(100_000), messages=long(20), summary=Summary(15, "short"))
    assert window.fitted() == window.messages
    unknown = ContextWindow(model=Writer(None), messages=long(20), summary=Summary(15, "short"))
    assert len(unknown.fitted()) == 2 * 5 + 1


async def test_summaries_are_kept_for_the_same_conversation_only() -> None:
    model, cache = Writer(4_000), SummaryCache()
    await compacted(ContextWindow(model=model, messages=long(20), summaries=cache))
    asked = len(model.prompts)
    again = ContextWindow(model=model, messages=[*long(20)[:-1], UserMessage("edited")], summaries=cache)
    [event] = await compacted(again)
    assert event.get("content") == "summary 1" or asked > 1
    assert len(model.prompts) == asked
    other = [UserMessage("another start"), *long(20)[1:]]
    await compacted(ContextWindow(model=model, messages=other, summaries=cache))
    assert len(model.prompts) > asked


async def test_a_server_that_counts_more_tokens_is_believed() -> None:
    """Japanese needs three tokens a character with some models; the error says so."""
    model = Writer(None, real=4_000, per_character=1.5)
    window = ContextWindow(model=model, messages=long(12))
    await compacted(window)
    with pytest.raises(ContextError) as caught:
        [_ async for _ in model.stream(Prompt(system="", messages=window.fitted()))]
    window.learn(caught.value, started=False)
    assert (model.context, model.token_scale > 2) == (4_000, True)
    assert [event async for event in window.compact()][-1].get("content")
    [_ async for _ in model.stream(Prompt(system="", messages=window.fitted()))]


async def test_a_refusal_without_a_limit_halves_the_conversation() -> None:
    window = ContextWindow(model=Writer(None), messages=long(12))
    before = size(window.fitted())
    error = ContextError("models.conversation_too_long", url="u", status=400)
    window.learn(error, started=False)
    assert [event async for event in window.compact()]
    assert size(window.fitted()) < before * 0.6
    with pytest.raises(ContextError) as caught:
        window.learn(error, started=False)
    assert caught.value is error


async def test_a_question_that_certainly_does_not_fit_costs_no_summary() -> None:
    model = Writer(2_000)
    window = ContextWindow(model=model, messages=[*long(9)[:-1], UserMessage("x " * 9_000)])
    with pytest.raises(ContextError) as caught:
        await compacted(window)
    assert caught.value.code == "models.message_too_long"
    assert caught.value.reason.params["model"] == "writer"
    assert model.prompts == []


async def test_tools_that_are_too_long_are_named() -> None:
    window = ContextWindow(model=Writer(2_000), messages=[UserMessage("hello")])
    tool = READ_RESULT
    specs: list[Any] = [
        type("Spec", (), {"name": f"t{n}", "description": "long " * 200, "schema": tool.schema}) for n in range(40)
    ]
    await window.open("system", specs)
    window.fitted()
    with pytest.raises(ContextError) as caught:
        window.learn(ContextError("models.conversation_too_long", limit=2_000, url="u", status=400), started=False)
    assert caught.value.code == "models.tools_too_long"
    assert caught.value.reason.params["tools"] == 40


async def test_results_are_read_again_page_by_page() -> None:
    whole = "".join(f"line {number}\n" for number in range(2_000))
    messages = [UserMessage("find"), *used_tool("c1", whole), UserMessage("more")]
    window = ContextWindow(model=Writer(4_000), messages=messages)
    assert window.is_shortened
    read = ""
    while len(read) < len(whole):
        text, _, more = window.read({"id": "c1", "start": len(read)}).content.partition("\n(")
        read += text
        assert more.endswith(f"continue with start {len(read)}.)") or read == whole
    assert read == whole
    assert window.read({"id": "c2"}).is_error
    assert window.read({"id": "c1", "start": "x"}).is_error


async def test_a_very_long_part_is_summarised_piece_by_piece() -> None:
    model = Writer(4_000)
    text, usage = await summarise(model, long(60)[:-1], "", tokens=100, piece=1_500)
    assert 3 < len(model.prompts) <= 12
    assert text == f"summary {len(model.prompts)}"
    assert usage is not None
    assert all(size(prompt.messages) < 2_000 for prompt in model.prompts)
    assert "Summary of what came before:\nsummary 1" in model.prompts[1].messages[0].content  # type: ignore[union-attr]


def test_the_newest_finished_summary_of_the_branch_counts() -> None:
    def answer(*parts: dict[str, Any]) -> Any:
        return {"role": "assistant", "content": "", "parts": list(parts)}

    ask = {"role": "user", "content": "q"}
    first = answer({"type": "summary", "questions": 3, "content": "old"})
    second = answer({"type": "summary", "questions": 5, "content": "new"})
    stopped = answer({"type": "summary", "questions": 7})
    assert earlier_summary([ask, first, ask, second, ask, stopped]) == Summary(5, "new")  # type: ignore[list-item]
    assert earlier_summary([ask, stopped]) is None  # type: ignore[list-item]


pieces = st.one_of(
    st.builds(lambda n: exchange(0, n), st.integers(0, 3_000)),
    st.builds(
        lambda n, text: [UserMessage("find " * (n % 90 + 1)), *used_tool(f"c{n}", text * n)],
        st.integers(1, 3_000),
        st.sampled_from(["x", "漢", "ab "]),
    ),
)


@given(
    parts=st.lists(pieces, max_size=8),
    newest=st.text(min_size=1, max_size=400),
    context=st.integers(1_024, 20_000),
    tail=st.booleans(),
    covered=st.integers(0, 9),
)
async def test_any_history_fits_with_its_newest_question_and_its_pairs(
    parts: list[list[ChatMessage]], newest: str, context: int, tail: bool, covered: int
) -> None:
    messages = [message for part in parts for message in part] + [UserMessage(newest)]
    if tail:
        messages += used_tool("now", "y" * 9_000)[:2]
    window = ContextWindow(model=Writer(context), messages=messages, summary=Summary(covered, "s") if covered else None)
    await compacted(window)
    sent = window.fitted(readable=True)
    available = budget(context)
    asked = [message for message in sent if isinstance(message, UserMessage)]
    assert asked[-1].content.endswith(newest)
    slack = (
        size([UserMessage(LEFT_OUT + SUMMARISED)]) + 700 + size([UserMessage(newest)])
    )  # the summary and 400 characters
    assert size(sent) <= available + slack
    assert isinstance(sent[0], UserMessage)
    for message, following in zip(sent, [*sent[1:], None], strict=True):
        if isinstance(message, AssistantMessage) and message.calls:
            assert isinstance(following, ToolMessage)
            assert [one.id for one in following.results] == [call.id for call in message.calls]
    assert fitted(sent, available + slack) == sent
