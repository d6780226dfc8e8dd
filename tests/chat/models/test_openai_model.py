"""Deviations of OpenAI-compatible servers."""

import asyncio
import json
import logging
import socket
import sys
import time
from contextlib import ExitStack, suppress
from types import SimpleNamespace
from typing import Any

import pytest
from tests.chat.models.quirky import HI, Quirky, answer, chunk
from tests.fakes.model_server import say
from tests.fakes.openai_server import OpenAIServer

from chie.chat.events import Usage
from chie.chat.models.chunks import Call, Chunk, End, Reasoning, ReasoningDelta, TextDelta
from chie.chat.models.errors import ModelError
from chie.chat.models.openai import LOCAL_IDLE_CONNECTIONS, OpenAIModel
from chie.chat.models.openai_endpoint import OpenAIEndpoint
from chie.errors import ConfigurationError


async def test_missing_and_null_fields_are_ignored() -> None:
    null = {"choices": [{"index": 0, "delta": None, "finish_reason": None}], "usage": None}
    thinking = chunk(reasoning_content="hm", content=None)
    with Quirky({"choices": []}, null, thinking, chunk(content="x"), chunk("stop"), "[DONE]") as server:
        chunks = await answer(server)
    assert chunks == [ReasoningDelta("hm"), TextDelta("x"), Reasoning({"reasoning_content": "hm"}), End(None)]


@pytest.mark.parametrize(
    "event",
    [
        "no JSON at all: sk-very-secret",
        "[]",
        {"choices": ["sk-very-secret"]},
    ],
    ids=["no JSON", "list", "nonsense"],
)
async def test_invalid_chunk_breaks_the_answer(event: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    with Quirky(chunk(content="x"), event) as server, pytest.raises(ModelError) as caught:
        await answer(server)
    assert caught.value.code == "models.connection_broken"
    assert "sk-very-secret" not in caught.value.message
    assert "sent an invalid chunk" in caplog.text


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        ({"message": "sk-very-secret"}, "models.unknown_error", None),
        ("sk-very-secret", "models.unknown_error", None),
        ({"message": "sk-very-secret", "code": {"nested": 1}}, "models.unknown_error", None),
        ({"message": "sk-very-secret", "code": 400}, "models.request_rejected", 400),
        ({"code": "context_length_exceeded"}, "models.conversation_too_long", "context_length_exceeded"),
        (
            {"type": "exceed_context_size_error", "code": 400},
            "models.conversation_too_long",
            "exceed_context_size_error",
        ),
        ({"code": "model_not_found"}, "models.model_not_found", "model_not_found"),
        ({"code": 429, "type": "x"}, "models.rate_limited", 429),
    ],
)
@pytest.mark.parametrize("streamed", [True, False], ids=["within an answer", "in place of one"])
async def test_reported_error_is_mapped_by_its_code(
    error: Any, code: str, status: str | int | None, streamed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    body = {"error": error}
    events = (chunk(content="x"), body) if streamed else (json.dumps(body, indent=2).encode(),)
    with Quirky(*events) as server, pytest.raises(ModelError) as caught:
        await answer(server)
    assert (caught.value.code, caught.value.reason.params.get("status")) == (code, status)
    assert caught.value.reason.params["url"] == server.base_url
    assert "sk-very-secret" not in caught.value.message
    assert "reported an error" in caplog.text


@pytest.mark.parametrize("body", [b"<html>", b"  <!doctype html>\n<html>", b"OK", b"", b"[]", b'{"cut'])
async def test_web_page_instead_of_an_answer_is_a_wrong_url(body: bytes) -> None:
    with Quirky(*filter(None, [body])) as server, pytest.raises(ModelError) as caught:
        await answer(server)
    assert caught.value.code == "models.not_openai_compatible"


async def test_answer_that_is_not_streamed_is_read() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    message = {"role": "assistant", "content": "全部 at once", "tool_calls": [call]}
    usage = {"prompt_tokens": 2, "completion_tokens": 1}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": usage}
    text = json.dumps(whole, indent=2).encode()
    with Quirky(b"\n", text[:40], text[40:]) as server:
        chunks = await answer(server)
    counted = Usage(input_tokens=2, output_tokens=1)
    assert chunks == [TextDelta("全部 at once"), Call("a", "f", '{"x": 1}'), End(counted)]


async def test_unterminated_last_event_is_read() -> None:
    with Quirky(chunk(content="x"), b"data: " + json.dumps(chunk("stop")).encode()) as server:
        assert await answer(server) == [TextDelta("x"), End(None)]


async def test_server_that_closes_the_connection_at_once_is_unreachable() -> None:
    async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        model = OpenAIModel(OpenAIEndpoint(url), "m")
        with pytest.raises(ModelError, match=f"No model server responds at {url}") as caught:
            await anext(model.stream(HI))
        await model.close()
    assert caught.value.code == "models.local_server_unreachable"


@pytest.mark.skipif(sys.platform != "linux", reason="other kernels refuse connections when the backlog is full")
async def test_server_that_accepts_no_connection_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chie.chat.models.openai.CONNECT_TIMEOUT_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, ExitStack() as queue:
        for _ in range(3):  # the kernel queues one or two of them and no more
            waiting = queue.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        model = OpenAIModel(OpenAIEndpoint(f"http://127.0.0.1:{full.getsockname()[1]}/v1"), "m")
        with pytest.raises(ModelError, match=r"No model server responds at .* \(ConnectTimeout\)"):
            await anext(model.stream(HI))
        await model.close()


async def test_content_in_parts_is_read() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    parts = [{"type": "text", "text": "こん"}, {"type": "text", "text": "にちは"}]
    with Quirky(chunk(content=[thinking]), chunk(content=parts), chunk("stop")) as server:
        assert await answer(server) == [ReasoningDelta("hm"), TextDelta("こんにちは"), End(None)]


async def test_refusal_is_text() -> None:
    with Quirky(chunk(refusal="I can't "), chunk(refusal="help."), chunk("stop")) as server:
        assert await answer(server) == [TextDelta("I can't "), TextDelta("help."), End(None)]


@pytest.mark.parametrize("usage", [{"prompt_tokens": 3}, {"prompt_tokens": 3, "completion_tokens": None}, {}])
async def test_missing_token_counts_do_not_fail_the_answer(usage: dict[str, Any]) -> None:
    with Quirky(chunk(content="x"), chunk("stop"), {"choices": [], "usage": usage}) as server:
        *_, end = await answer(server)
    expected = {"input_tokens": 3, "output_tokens": 0} if usage else None
    assert isinstance(end, End)
    assert end.usage == expected


async def test_surrogate_halves_are_joined() -> None:
    halves = [chunk(content=part) for part in ("a\ud83d", "\ude00 \ud842", "\udfb7野家 \ude00 x")]
    with Quirky(*halves, chunk("stop")) as server:
        texts = [item.text for item in await answer(server) if isinstance(item, TextDelta)]
    assert texts == ["a", "😀 ", "𠮷野家 \ufffd x"]


@pytest.mark.parametrize(
    "arguments", ['{"x": NaN}', '{"x": 1e999}', '{"x": "\\ud800"}', '{"x": ' + "[" * 3_000 + "]" * 3_000 + "}", "[1]"]
)
def test_arguments_that_are_not_valid_json_are_rejected(arguments: str) -> None:
    assert Call("1", "f", arguments).parsed() is None


async def test_done_marker_completes_the_answer() -> None:
    with Quirky(chunk(content="all"), "[DONE]") as server:
        assert await answer(server) == [TextDelta("all"), End(None)]


async def test_end_without_finish_reason_is_an_interruption() -> None:
    with Quirky(chunk(content="half")) as server, pytest.raises(ModelError) as caught:
        await answer(server)
    assert caught.value.code == "models.connection_broken"


async def test_key_is_sent_and_without_one_no_secret_is() -> None:
    with OpenAIServer(say("x"), say("y")) as server:
        for key in ("sk-1", None):
            model = OpenAIModel(OpenAIEndpoint(server.base_url, key), "m")
            assert [item async for item in model.stream(HI)]
            await model.close()
    assert [headers["authorization"] for headers in server.headers] == ["Bearer sk-1", "Bearer none"]


@pytest.mark.parametrize(
    ("body", "code"), [(b"<html>", "models.not_openai_compatible"), (None, "models.path_not_found")]
)
async def test_url_of_something_else_is_reported(
    body: bytes | None, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer() as server:
        monkeypatch.setattr(server, "listing", lambda: body)
        with pytest.raises(ModelError) as caught:
            await OpenAIModel(OpenAIEndpoint(server.base_url)).check()
    assert (caught.value.code, caught.value.reason.params["setting"]) == (code, "`OPENAI_BASE_URL`")


async def test_missing_sdk_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    monkeypatch.setattr("chie.chat.models.openai.find_spec", lambda name: None if name == "openai" else name)
    with OpenAIServer() as server:
        model = OpenAIModel(OpenAIEndpoint(server.base_url))
        with pytest.raises(ConfigurationError, match=r"install -e '\S+\[openai\]'"):
            await model.check()
        with pytest.raises(ConfigurationError, match=r"install -e '\S+\[openai\]'"):
            await anext(model.stream(HI))


async def test_a_connection_that_the_server_has_closed_is_replaced() -> None:
    """llama.cpp closes one after a hundred requests, without a word in its last response."""
    body = f"data: {json.dumps(chunk('stop', content='はい'))}\n\n".encode()
    connections, closed = 0, asyncio.Semaphore(0)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        with suppress(asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")  # the next request gets no response
        writer.close()
        await writer.wait_closed()
        closed.release()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        model = OpenAIModel(OpenAIEndpoint(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"), "m")
        answers = [[item async for item in model.stream(HI)] for _ in range(2)]
        await model.close()
        async with asyncio.timeout(10):
            for _ in range(connections):
                await closed.acquire()
    assert answers == [[TextDelta("はい"), End(None)]] * 2
    assert connections == 2


async def test_the_next_question_finds_the_connection_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """People read an answer for half a minute, and a new connection to a remote server takes a tenth of a second."""
    body = f"data: {json.dumps(chunk('stop', content='はい'))}\n\n".encode()
    connections, closed = 0, asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        with suppress(asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]))
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        writer.close()
        await writer.wait_closed()
        closed.set()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        model = OpenAIModel(OpenAIEndpoint(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"), "m")
        assert [item async for item in model.stream(HI)] == [TextDelta("はい"), End(None)]
        later = SimpleNamespace(monotonic=lambda: time.monotonic() + 30)
        monkeypatch.setattr("httpcore2._async.http11.time", later)
        assert [item async for item in model.stream(HI)] == [TextDelta("はい"), End(None)]
        await model.close()
        async with asyncio.timeout(10):
            await closed.wait()
    assert connections == 1


async def test_few_idle_connections_to_a_local_server_are_kept() -> None:
    """Every request checks all idle ones; after many answers at once that took longer than the rest of it."""
    connections: set[asyncio.StreamWriter] = set()
    together, closed = asyncio.Barrier(LOCAL_IDLE_CONNECTIONS + 4), asyncio.Condition()
    body = f"data: {json.dumps(chunk('stop', content='はい'))}\n\n".encode()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(writer)
        with suppress(asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]))
                await together.wait()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        writer.close()
        async with closed:
            connections.remove(writer)
            closed.notify_all()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        model = OpenAIModel(OpenAIEndpoint(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"), "m")

        async def ask() -> list[Chunk]:
            return [item async for item in model.stream(HI)]

        answers = await asyncio.gather(*(ask() for _ in range(together.parties)))
        assert answers == [[TextDelta("はい"), End(None)]] * together.parties
        async with closed, asyncio.timeout(10):
            await closed.wait_for(lambda: len(connections) <= LOCAL_IDLE_CONNECTIONS)
        assert len(connections) == LOCAL_IDLE_CONNECTIONS
        for writer in connections:
            writer.close()
        async with closed, asyncio.timeout(10):
            await closed.wait_for(lambda: not connections)
        await model.close()
