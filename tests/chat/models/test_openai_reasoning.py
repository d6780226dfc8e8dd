"""Reasoning of OpenAI-compatible servers: in fields of their own, or as tags in the text."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chat.models.quirky import Quirky, answer, chunk
from tests.fakes.model_server import say
from tests.fakes.openai_server import OpenAIServer

from chie.chat.models.base import Prompt
from chie.chat.models.chunks import Call, Chunk, Reasoning, ReasoningDelta, TextDelta
from chie.chat.models.messages import AssistantMessage, CallResult, ToolMessage, UserMessage
from chie.chat.models.openai import OpenAIModel
from chie.chat.models.openai_endpoint import OpenAIEndpoint
from chie.chat.models.openai_reasoning import ThinkTags

pytestmark = pytest.mark.req("AG-3")

CALL = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def thought(chunks: list[Chunk]) -> str:
    return "".join(one.text for one in chunks if isinstance(one, ReasoningDelta))


def text(chunks: list[Chunk]) -> str:
    return "".join(one.text for one in chunks if isinstance(one, TextDelta))


async def sent_back(chunks: list[Chunk]) -> dict[str, Any]:
    """The assistant's message in the request with the results of its calls."""
    calls = tuple(one for one in chunks if isinstance(one, Call))
    said = AssistantMessage(text(chunks), calls, tuple(one for one in chunks if isinstance(one, Reasoning)))
    results = ToolMessage(tuple(CallResult(call.id, "found", is_error=False) for call in calls))
    with OpenAIServer(say("ok")) as server:
        model = OpenAIModel(OpenAIEndpoint(server.base_url), "m", timeout=5)
        [_ async for _ in model.stream(Prompt(system="", messages=[UserMessage("q"), said, results]))]
        await model.close()
    message: dict[str, Any] = server.seen[0]["messages"][1]
    return message


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_a_field_is_shown_and_sent_back_with_the_results(field: str) -> None:
    with Quirky(chunk(**{field: "まず"}), chunk(**{field: "探す"}), chunk("tool_calls", tool_calls=[CALL])) as server:
        chunks = await answer(server)
    assert (thought(chunks), text(chunks)) == ("まず探す", "")
    assert await sent_back(chunks) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        field: "まず探す",
    }


async def test_the_same_reasoning_in_two_fields_is_shown_once() -> None:
    both = chunk(reasoning="hm", reasoning_content="hm")
    with Quirky(both, chunk("stop", content="x")) as server:
        assert thought(await answer(server)) == "hm"


async def test_signatures_of_a_gateway_are_sent_back() -> None:
    """As LiteLLM and OpenRouter send them, in pieces."""
    blocks = [
        {"type": "thinking", "thinking": "a", "signature": None},
        {"type": "thinking", "thinking": "b", "signature": None},
        {"type": "thinking", "thinking": "", "signature": "signed"},
        {"type": "thinking", "thinking": "c", "signature": None},
    ]
    details = [
        {"type": "reasoning.text", "text": "a", "index": 0},
        {"type": "reasoning.text", "text": "b", "index": 0, "signature": "s"},
        {"type": "reasoning.encrypted", "data": "xyz", "index": 1},
    ]
    pieces = [chunk(thinking_blocks=[one], reasoning_content="r") for one in blocks]
    pieces += [chunk(reasoning_details=[one]) for one in details]
    with Quirky(*pieces, chunk("tool_calls", tool_calls=[CALL])) as server:
        sent = await sent_back(await answer(server))
    assert sent["thinking_blocks"] == [
        {"type": "thinking", "thinking": "ab", "signature": "signed"},
        {"type": "thinking", "thinking": "c"},
    ]
    assert sent["reasoning_details"] == [
        {"type": "reasoning.text", "text": "ab", "index": 0, "signature": "s"},
        {"type": "reasoning.encrypted", "data": "xyz", "index": 1},
    ]


async def test_what_google_signs_a_call_with_is_sent_back() -> None:
    signed = {**CALL, "extra_content": {"google": {"thought_signature": "sig"}}}
    with Quirky(chunk("tool_calls", tool_calls=[signed])) as server:
        sent = await sent_back(await answer(server))
    assert sent["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "sig"}}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("<think>まず、\n考える。</think>\n\n答え", ("まず、\n考える。", "答え")),
        ("\n <thinking>a < b</thinking>c", ("a < b", "c")),
        ("<think></think>x", ("", "x")),
        ("<think>cut off in mid-thou", ("cut off in mid-thou", "")),
        ("<think>cut off at </thi", ("cut off at </thi", "")),
        ("The tag <think>is text</think> here", ("", "The tag <think>is text</think> here")),
        ("<thin", ("", "<thin")),
        ("<b>x</b>", ("", "<b>x</b>")),
        ("<think>a</think>b <think>c</think>", ("a", "b <think>c</think>")),
        ("  indented", ("", "  indented")),
    ],
)
@given(cuts=st.lists(st.integers(0, 60), max_size=8))
def test_tags_are_found_however_the_text_is_split(said: str, expected: tuple[str, str], cuts: list[int]) -> None:
    tags, places = ThinkTags(), sorted({0, len(said), *(cut for cut in cuts if cut < len(said))})
    pieces = [said[start:end] for start, end in pairwise(places)]
    chunks = [one for piece in pieces for one in tags.split(piece)] + tags.finish()
    assert (thought(chunks), text(chunks)) == expected


async def test_tagged_reasoning_is_sent_back_as_the_model_wrote_it() -> None:
    pieces = [chunk(content=piece) for piece in ("<thi", "nk>\nhm</", "think>\n\n", "Let me see.")]
    with Quirky(*pieces, chunk("tool_calls", tool_calls=[CALL])) as server:
        chunks = await answer(server)
    assert (thought(chunks), text(chunks)) == ("\nhm", "Let me see.")
    assert (await sent_back(chunks))["content"] == "<think>\nhm</think>Let me see."
