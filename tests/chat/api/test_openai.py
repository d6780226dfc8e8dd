"""The OpenAI-compatible API, used with OpenAI's own client."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

import httpx2
import pytest
from openai import (
    APIError,
    APIStatusError,
    AsyncOpenAI,
    AsyncStream,
    AuthenticationError,
    BadRequestError,
    InternalServerError,
    NotFoundError,
    RateLimitError,
)
from openai.types.chat import (
    ChatCompletionChunk,
    ChatCompletionFunctionToolParam,
    ChatCompletionUserMessageParam,
)
from tests.fakes.agents import ANSWER, KINDS, NO_MODEL, UNREACHABLE, EchoAgent, EndlessAgent, GatedAgent, done, text
from tests.fakes.chat import ChatClient
from tests.fakes.waiting import until

from chie.chat.api import openai_compat
from chie.chat.events import Event
from chie.chat.models.errors import ModelError
from chie.messages.catalogue import Message


def sdk(chat: ChatClient) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{chat.client.base_url}/v1", api_key="any", max_retries=0, timeout=60)


async def test_available_agents_are_models(chat: ChatClient) -> None:
    async with sdk(chat) as client:
        models = await client.models.list()
    assert [model.id for model in models.data] == [kind.id for kind in KINDS if kind.available]


async def test_answer_without_streaming(chat: ChatClient) -> None:
    async with sdk(chat) as client:
        answer = await client.chat.completions.create(
            model="scripted", messages=[{"role": "user", "content": "知恵とは"}]
        )
    assert answer.choices[0].message.content == ANSWER
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (12, 9, 21)


async def test_streamed_answer_with_usage(chat: ChatClient) -> None:
    async with sdk(chat) as client:
        stream = await client.chat.completions.create(
            model="tools",
            messages=[{"role": "user", "content": "look"}],
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = [chunk async for chunk in stream]
    texts = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(texts) == "Let me look. Found."
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 105


async def test_history_and_system_messages_reach_an_agent_without_options(chat: ChatClient) -> None:
    async with sdk(chat) as client:
        await client.chat.completions.create(
            model="echo",
            messages=[
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
                {"role": "assistant", "content": "three"},
                {"role": "user", "content": "four"},
            ],
        )
    message, history, _ = chat.agent(EchoAgent).requests[-1]
    assert message == "Be brief.\n\nfour"
    assert history == [
        {"role": "user", "content": "one\ntwo"},
        {"role": "assistant", "content": "three"},
    ]


async def test_nothing_is_stored(chat: ChatClient) -> None:
    async with sdk(chat) as client:
        await client.chat.completions.create(model="echo", messages=[{"role": "user", "content": "x"}])
    assert (await chat.get("/api/sessions"))["sessions"] == []


async def test_errors_are_raised_by_the_client(chat: ChatClient) -> None:
    async with sdk(chat) as client:
        with pytest.raises(NotFoundError, match="There is no such agent"):
            await client.chat.completions.create(model="nobody", messages=[{"role": "user", "content": "x"}])
        with pytest.raises(InternalServerError, match=r"127\.0\.0\.1:1234"):
            await client.chat.completions.create(model="failing", messages=[{"role": "user", "content": "x"}])
        with pytest.raises(BadRequestError, match="must be the user's question"):
            await client.chat.completions.create(model="echo", messages=[{"role": "assistant", "content": "x"}])
        with pytest.raises(BadRequestError, match="must follow the assistant's message"):
            await client.chat.completions.create(
                model="echo", messages=[{"role": "tool", "tool_call_id": "1", "content": "x"}]
            )


@pytest.mark.req("AG-6")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (Message("models.key_rejected", url="u", status=401, setting="s"), AuthenticationError),
        (Message("models.conversation_too_long", url="u", status=400), BadRequestError),
        (Message("models.message_too_long", model="m", tokens=9, context=8), BadRequestError),
        (Message("models.tools_too_long", model="m", tools=9, tokens=9, context=8), BadRequestError),
        (Message("models.rate_limited_for", url="u", status=429, seconds=7), RateLimitError),
        (Message("models.server_failed", url="u", status=502), InternalServerError),
    ],
    ids=["key", "context", "question", "tools", "rate", "failed"],
)
async def test_errors_of_a_model_keep_their_status(
    chat: ChatClient, monkeypatch: pytest.MonkeyPatch, reason: Message, expected: type[APIStatusError], stream: bool
) -> None:
    async def script(*_: object) -> AsyncGenerator[Event, None]:
        raise ModelError(reason)
        yield

    monkeypatch.setattr(chat.agent(EchoAgent), "script", script)
    question: ChatCompletionUserMessageParam = {"role": "user", "content": "hi"}
    async with sdk(chat) as client:
        with pytest.raises(expected) as caught:
            await client.chat.completions.create(model="echo", messages=[question], stream=stream)
    assert caught.value.response.headers.get("retry-after") == ("7" if expected is RateLimitError else None)


async def test_error_during_the_stream_is_raised_by_the_client(chat: ChatClient) -> None:
    texts: list[str | None] = []

    async def read(stream: AsyncStream[ChatCompletionChunk]) -> None:
        async for chunk in stream:
            texts.append(chunk.choices[0].delta.content)  # noqa: PERF401 - what came before the error counts

    async with sdk(chat) as client:
        stream = await client.chat.completions.create(
            model="failing", messages=[{"role": "user", "content": "later"}], stream=True
        )
        with pytest.raises(APIError) as failed:
            await read(stream)
    assert texts == ["", "So far ", "so good"]
    assert failed.value.message == UNREACHABLE


async def test_disconnect_cancels_the_agent(chat: ChatClient) -> None:
    agent = chat.agent(EndlessAgent)
    async with sdk(chat) as client:
        stream = await client.chat.completions.create(
            model="endless", messages=[{"role": "user", "content": "count"}], stream=True
        )
        async for chunk in stream:
            if chunk.choices[0].delta.content == "3 ":
                break
        await stream.close()

    async def closed() -> bool:
        return agent.closed == 1

    await until(closed)


@pytest.mark.parametrize("stream", [True, False])
async def test_disconnect_before_the_first_event_cancels_the_agent(chat: ChatClient, stream: bool) -> None:
    agent = chat.agent(GatedAgent)
    body = {"model": "gated", "messages": [{"role": "user", "content": "x"}], "stream": stream}
    with pytest.raises(httpx2.ReadTimeout):
        await chat.client.post("/v1/chat/completions", json=body, timeout=0.3)

    async def closed() -> bool:
        return agent.closed == 1

    await until(closed)


async def test_stream_starts_with_heartbeats_while_the_agent_is_silent(
    chat: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_compat, "HEARTBEAT_SECONDS", 0.05)
    agent = chat.agent(GatedAgent)
    body = {"model": "gated", "messages": [{"role": "user", "content": "x"}], "stream": True}
    async with chat.client.stream("POST", "/v1/chat/completions", json=body) as response:
        lines = response.aiter_lines()
        assert await _line(lines, ": still here")
        agent.allow("at last")
        assert await _line(lines, '"content": "at last"')
        agent.finish()
        assert await _line(lines, "[DONE]")


async def _line(lines: AsyncIterator[str], part: str) -> bool:
    async for line in lines:
        if part in line:
            return True
    return False


async def test_error_after_a_heartbeat_is_sent_in_the_stream(chat: ChatClient, monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(*_: object) -> AsyncGenerator[Event, None]:
        await asyncio.sleep(0.2)
        raise ModelError(NO_MODEL)
        yield

    monkeypatch.setattr(openai_compat, "HEARTBEAT_SECONDS", 0.05)
    monkeypatch.setattr(EchoAgent, "script", script)
    body = {"model": "echo", "messages": [{"role": "user", "content": "x"}], "stream": True}
    answer = await chat.client.post("/v1/chat/completions", json=body)
    assert answer.status_code == 200
    assert UNREACHABLE in answer.text
    assert "[DONE]" not in answer.text


async def test_lone_surrogates_are_replaced(chat: ChatClient, monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(*_: object) -> AsyncGenerator[Event, None]:
        yield text("a\ud83d b")
        yield done()

    monkeypatch.setattr(EchoAgent, "script", script)
    async with sdk(chat) as client:
        answer = await client.chat.completions.create(model="echo", messages=[{"role": "user", "content": "x"}])
    assert answer.choices[0].message.content == "a? b"


@pytest.mark.req("AG-14")
async def test_agent_without_options_refuses_them_by_name(chat: ChatClient) -> None:
    tool: ChatCompletionFunctionToolParam = {"type": "function", "function": {"name": "look"}}
    question: ChatCompletionUserMessageParam = {"role": "user", "content": "x"}
    async with sdk(chat) as client:
        with pytest.raises(BadRequestError, match="cannot follow temperature, tools"):
            await client.chat.completions.create(model="echo", messages=[question], temperature=0, tools=[tool])


async def test_trailing_system_message_counts_too(chat: ChatClient) -> None:
    async with sdk(chat) as client:
        await client.chat.completions.create(
            model="echo", messages=[{"role": "user", "content": "four"}, {"role": "system", "content": "Be brief."}]
        )
    assert chat.agent(EchoAgent).requests[-1][0] == "Be brief.\n\nfour"
