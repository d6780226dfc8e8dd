"""Quirks of servers that call themselves OpenAI-compatible."""

import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from tests.fakes.model_server import Say, say
from tests.fakes.openai_server import OpenAIServer

from chie.chat.model.base import Call, End, ModelError, Piece, Prompt, TextPiece, UserSaid
from chie.chat.model.endpoint import Endpoint
from chie.chat.model.openai import OpenAIModel
from chie.errors import ConfigurationError

HI = Prompt(system="", messages=[UserSaid("hi")])


class Quirky(OpenAIServer):
    """Sends these events and nothing else."""

    def __init__(self, *events: dict[str, Any] | str) -> None:
        super().__init__(say())
        self.events = events

    def frames(self, step: Say) -> Iterator[bytes]:  # noqa: ARG002
        for event in self.events:
            yield f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode()


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def fragment(**about: Any) -> dict[str, Any]:
    return chunk(tool_calls=[about])


async def answer(server: OpenAIServer) -> list[Piece]:
    model = OpenAIModel(Endpoint(server.base_url), "m", seconds=5)
    try:
        return [piece async for piece in model.stream(HI)]
    finally:
        await model.close()


async def test_calls_without_numbers_are_kept_apart() -> None:
    one = fragment(id="a", function={"name": "f", "arguments": '{"x": 1}'})
    two = fragment(id="b", function={"name": "f", "arguments": '{"x": 2}'})
    with Quirky(one, two, chunk("tool_calls")) as server:
        assert await answer(server) == [Call("a", "f", '{"x": 1}'), Call("b", "f", '{"x": 2}'), End(None)]


async def test_calls_under_one_number_with_other_ids_are_kept_apart() -> None:
    one = fragment(index=0, id="a", function={"name": "f", "arguments": "{}"})
    two = fragment(index=0, id="b", function={"name": "g", "arguments": "{}"})
    with Quirky(one, two, chunk("tool_calls")) as server:
        assert [piece.name for piece in await answer(server) if isinstance(piece, Call)] == ["f", "g"]


async def test_missing_and_null_fields_are_taken_for_nothing() -> None:
    null = {"choices": [{"index": 0, "delta": None, "finish_reason": None}], "usage": None}
    thinking = chunk(reasoning_content="hm", content=None)
    with Quirky({"choices": []}, null, thinking, chunk(content="x"), chunk("stop"), "[DONE]") as server:
        assert await answer(server) == [TextPiece("x"), End(None)]


@pytest.mark.parametrize(
    "event",
    [
        {"error": {"message": "sk-very-secret is out of memory"}},
        "no JSON at all: sk-very-secret",
        "[]",
        {"choices": ["sk-very-secret"]},
    ],
    ids=["error", "no JSON", "list", "nonsense"],
)
async def test_what_is_no_answer_is_told_in_our_words(event: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    with Quirky(chunk(content="x"), event) as server, pytest.raises(ModelError, match="broke off") as caught:
        await answer(server)
    assert "sk-very-secret" not in caught.value.message
    assert "sent what is no answer" in caplog.text


@pytest.mark.parametrize("usage", [{"prompt_tokens": 3}, {"prompt_tokens": 3, "completion_tokens": None}, {}])
async def test_tokens_that_were_not_counted_cost_no_answer(usage: dict[str, Any]) -> None:
    with Quirky(chunk(content="x"), chunk("stop"), {"choices": [], "usage": usage}) as server:
        *_, end = await answer(server)
    expected = {"input_tokens": 3, "output_tokens": 0} if usage else None
    assert isinstance(end, End)
    assert end.usage == expected


async def test_characters_that_came_in_halves_are_joined() -> None:
    halves = [chunk(content=piece) for piece in ("a\ud83d", "\ude00 \ud842", "\udfb7野家 \ude00 x")]
    with Quirky(*halves, chunk("stop")) as server:
        pieces = [piece.text for piece in await answer(server) if isinstance(piece, TextPiece)]
    assert pieces == ["a", "😀 ", "𠮷野家 \ufffd x"]


@pytest.mark.parametrize(
    "arguments", ['{"x": NaN}', '{"x": 1e999}', '{"x": "\\ud800"}', '{"x": ' + "[" * 3_000 + "]" * 3_000 + "}", "[1]"]
)
def test_arguments_that_no_json_can_hold_are_none(arguments: str) -> None:
    assert Call("1", "f", arguments).parsed() is None


async def test_an_end_without_a_reason_is_no_end() -> None:
    with Quirky(chunk(content="half"), "[DONE]") as server, pytest.raises(ModelError, match="broke off in the middle"):
        await answer(server)


async def test_the_key_is_sent_and_an_agent_without_one_sends_no_secret() -> None:
    with OpenAIServer(say("x"), say("y")) as server:
        for key in ("sk-1", None):
            model = OpenAIModel(Endpoint(server.base_url, key), "m")
            assert [piece async for piece in model.stream(HI)]
            await model.close()
    assert [headers["authorization"] for headers in server.headers] == ["Bearer sk-1", "Bearer none"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>", "does not answer as an OpenAI-compatible server does"),
        (None, "answered 404. Correct OPENAI_BASE_URL"),
    ],
)
async def test_an_address_that_is_something_else_is_told(
    body: bytes | None, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer() as server:
        monkeypatch.setattr(server, "listing", lambda: body)
        with pytest.raises(ModelError, match=message):
            await OpenAIModel(Endpoint(server.base_url)).check()


async def test_without_the_sdk_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    monkeypatch.setattr("chie.chat.model.openai.find_spec", lambda name: None if name == "openai" else name)
    with OpenAIServer() as server:
        model = OpenAIModel(Endpoint(server.base_url))
        with pytest.raises(ConfigurationError, match=r"pip install 'chie\[openai\]'"):
            await model.check()
        with pytest.raises(ConfigurationError, match=r"pip install 'chie\[openai\]'"):
            await anext(model.stream(HI))
