"""Quirks of servers that call themselves OpenAI-compatible."""

import asyncio
import json
import logging
import socket
import sys
from contextlib import ExitStack
from typing import Any

import pytest
from tests.chat.model.quirky import HI, Quirky, answer, chunk
from tests.fakes.model_server import say
from tests.fakes.openai_server import OpenAIServer

from chie.chat.models.base import Call, End, ModelError, TextPiece
from chie.chat.models.endpoint import Endpoint
from chie.chat.models.openai import OpenAIModel
from chie.errors import ConfigurationError


async def test_missing_and_null_fields_are_taken_for_nothing() -> None:
    null = {"choices": [{"index": 0, "delta": None, "finish_reason": None}], "usage": None}
    thinking = chunk(reasoning_content="hm", content=None)
    with Quirky({"choices": []}, null, thinking, chunk(content="x"), chunk("stop"), "[DONE]") as server:
        assert await answer(server) == [TextPiece("x"), End(None)]


@pytest.mark.parametrize(
    "event",
    [
        "no JSON at all: sk-very-secret",
        "[]",
        {"choices": ["sk-very-secret"]},
    ],
    ids=["no JSON", "list", "nonsense"],
)
async def test_what_is_no_answer_is_told_in_our_words(event: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    with Quirky(chunk(content="x"), event) as server, pytest.raises(ModelError, match="broke off") as caught:
        await answer(server)
    assert "sk-very-secret" not in caught.value.message
    assert "sent what is no answer" in caplog.text


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ({"message": "sk-very-secret"}, "If the conversation has become long, start a new one; if not, try again"),
        ("sk-very-secret", "If the conversation has become long, start a new one"),
        ({"message": "sk-very-secret", "code": {"nested": 1}}, "If the conversation has become long, start a new one"),
        ({"message": "sk-very-secret", "code": 400}, r"\(400\)\. .*conversation may be too long for the model"),
        ({"code": "context_length_exceeded"}, r"\(context_length_exceeded\)\. The conversation is too long for it"),
        (
            {"type": "exceed_context_size_error", "code": 400},
            r"\(exceed_context_size_error\)\. The conversation is too",
        ),
        ({"code": "model_not_found"}, r"\(model_not_found\)\. Is the model m loaded there"),
        ({"code": 429, "type": "x"}, r"\(429\)\. It is busy"),
    ],
)
@pytest.mark.parametrize("streamed", [True, False], ids=["within an answer", "in place of one"])
async def test_an_error_that_the_server_reports_is_told_by_its_cause(
    error: Any, words: str, streamed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    body = {"error": error}
    events = (chunk(content="x"), body) if streamed else (json.dumps(body, indent=2).encode(),)
    with Quirky(*events) as server, pytest.raises(ModelError, match=f"reported an error.*{words}") as caught:
        await answer(server)
    assert "sk-very-secret" not in caught.value.message
    assert "reported an error" in caplog.text


@pytest.mark.parametrize("body", [b"<html>", b"  <!doctype html>\n<html>", b"OK", b"", b"[]", b'{"cut'])
async def test_a_page_in_place_of_an_answer_is_told_as_a_wrong_address(body: bytes) -> None:
    with Quirky(*filter(None, [body])) as server, pytest.raises(ModelError, match="does not answer as an OpenAI-comp"):
        await answer(server)


async def test_an_answer_that_is_not_streamed_is_read() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    message = {"role": "assistant", "content": "全部 at once", "tool_calls": [call]}
    usage = {"prompt_tokens": 2, "completion_tokens": 1}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": usage}
    text = json.dumps(whole, indent=2).encode()
    with Quirky(b"\n", text[:40], text[40:]) as server:
        pieces = await answer(server)
    told = {"input_tokens": 2, "output_tokens": 1}
    assert pieces == [TextPiece("全部 at once"), Call("a", "f", '{"x": 1}'), End(told)]  # type: ignore[arg-type]


async def test_a_last_event_without_its_end_is_read() -> None:
    with Quirky(chunk(content="x"), b"data: " + json.dumps(chunk("stop")).encode()) as server:
        assert await answer(server) == [TextPiece("x"), End(None)]


async def test_a_server_that_hangs_up_at_once_is_told_as_one_that_is_away() -> None:
    async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0) as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        model = OpenAIModel(Endpoint(address), "m")
        with pytest.raises(ModelError, match=f"No model server answers at {address}"):
            await anext(model.stream(HI))
        await model.close()


@pytest.mark.skipif(sys.platform != "linux", reason="other kernels refuse whom they have no place for")
async def test_a_server_that_lets_nobody_in_is_told_as_one_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chie.chat.models.openai.CONNECT_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, ExitStack() as queue:
        for _ in range(3):  # the kernel lets one or two of them wait, and nobody after them
            waiting = queue.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        model = OpenAIModel(Endpoint(f"http://127.0.0.1:{full.getsockname()[1]}/v1"), "m")
        with pytest.raises(ModelError, match=r"No model server answers at .* \(ConnectTimeout\)"):
            await anext(model.stream(HI))
        await model.close()


async def test_content_in_parts_is_read_without_the_thoughts() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    parts = [{"type": "text", "text": "こん"}, {"type": "text", "text": "にちは"}]
    with Quirky(chunk(content=[thinking]), chunk(content=parts), chunk("stop")) as server:
        assert await answer(server) == [TextPiece("こんにちは"), End(None)]


async def test_what_a_model_says_when_it_refuses_is_text() -> None:
    with Quirky(chunk(refusal="I can't "), chunk(refusal="help."), chunk("stop")) as server:
        assert await answer(server) == [TextPiece("I can't "), TextPiece("help."), End(None)]


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


async def test_an_answer_is_whole_when_the_server_says_that_it_is_done() -> None:
    with Quirky(chunk(content="all"), "[DONE]") as server:
        assert await answer(server) == [TextPiece("all"), End(None)]


async def test_an_end_without_a_word_of_it_is_a_break() -> None:
    with Quirky(chunk(content="half")) as server, pytest.raises(ModelError, match="broke off in the middle"):
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
    monkeypatch.setattr("chie.chat.models.openai.find_spec", lambda name: None if name == "openai" else name)
    with OpenAIServer() as server:
        model = OpenAIModel(Endpoint(server.base_url))
        with pytest.raises(ConfigurationError, match=r"pip install 'chie\[openai\]'"):
            await model.check()
        with pytest.raises(ConfigurationError, match=r"pip install 'chie\[openai\]'"):
            await anext(model.stream(HI))
