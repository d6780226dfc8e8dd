"""Every agent as a model, spoken to by OpenAI's own client."""

import pytest
from openai import APIError, AsyncOpenAI, AsyncStream, BadRequestError, InternalServerError, NotFoundError
from openai.types.chat import ChatCompletionChunk
from tests.fakes.agents import ANSWER, KINDS, UNREACHABLE, EchoAgent
from tests.fakes.chat import ChatHouse
from tests.fakes.waiting import until


def sdk(chat: ChatHouse) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{chat.client.base_url}/v1", api_key="any", max_retries=0)


async def test_available_agents_are_models(chat: ChatHouse) -> None:
    async with sdk(chat) as client:
        models = await client.models.list()
    assert [model.id for model in models.data] == [kind.id for kind in KINDS if kind.available]


async def test_an_answer_in_one_piece(chat: ChatHouse) -> None:
    async with sdk(chat) as client:
        answer = await client.chat.completions.create(
            model="scripted", messages=[{"role": "user", "content": "知恵とは"}]
        )
    assert answer.choices[0].message.content == ANSWER
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (12, 9, 21)


async def test_an_answer_as_a_stream_with_usage(chat: ChatHouse) -> None:
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


async def test_history_and_system_words_reach_the_agent(chat: ChatHouse) -> None:
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
    message, history, _ = chat.agent(EchoAgent).heard[-1]
    assert message == "four"
    assert history == [
        {"role": "user", "content": "Be brief.\n\none\ntwo"},
        {"role": "assistant", "content": "three"},
    ]


async def test_nothing_of_it_is_kept(chat: ChatHouse) -> None:
    async with sdk(chat) as client:
        await client.chat.completions.create(model="echo", messages=[{"role": "user", "content": "x"}])
    assert (await chat.get("/api/sessions"))["sessions"] == []


async def test_errors_arrive_as_the_client_s_own(chat: ChatHouse) -> None:
    async with sdk(chat) as client:
        with pytest.raises(NotFoundError, match="no agent has this id"):
            await client.chat.completions.create(model="nobody", messages=[{"role": "user", "content": "x"}])
        with pytest.raises(InternalServerError, match=r"127\.0\.0\.1:1234"):
            await client.chat.completions.create(model="failing", messages=[{"role": "user", "content": "x"}])
        with pytest.raises(BadRequestError, match="the last of the messages must be the user's question"):
            await client.chat.completions.create(model="echo", messages=[{"role": "assistant", "content": "x"}])
        with pytest.raises(BadRequestError, match="run their own tools"):
            await client.chat.completions.create(
                model="echo", messages=[{"role": "tool", "tool_call_id": "1", "content": "x"}]
            )


async def test_a_failure_in_mid_stream_is_an_error_not_an_end(chat: ChatHouse) -> None:
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


async def test_a_client_that_leaves_ends_the_agent_s_work(chat: ChatHouse) -> None:
    agent = chat.directory.get_agent("endless")
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
