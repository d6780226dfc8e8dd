"""`/v1` as a model server: roles, parameters and the client's own tools, seen at the servers of the models."""

import json
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from openai import BadRequestError
from openai.types.chat import (
    ChatCompletionContentPartImageParam,
    ChatCompletionContentPartParam,
    ChatCompletionFunctionToolParam,
    ChatCompletionMessageFunctionToolCall,
    ChatCompletionMessageParam,
    ChatCompletionUserMessageParam,
)
from tests.fakes.model_app import ModelApp, open_model_app
from tests.fakes.model_server import Refuse, Say, Use, say, use
from tests.fakes.pictures import png

from chie.chat.settings import ChatSettings

pytestmark = pytest.mark.req("AG-14")

QUESTION: ChatCompletionUserMessageParam = {"role": "user", "content": "東京の天気は？"}
WEATHER: ChatCompletionFunctionToolParam = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
TOKYO = '{"city": "東京"}'
ASKED: list[ChatCompletionMessageParam] = [
    QUESTION,
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": TOKYO}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "晴れ"},
]


@pytest.fixture
async def v1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ModelApp]:
    for name, value in {
        "ACCESS_KEY_ID": "AKIDEXAMPLE",
        "SECRET_ACCESS_KEY": "x",
        "EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    async with open_model_app(tmp_path, ChatSettings(chie_tool_rounds=3)) as app:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", app.bedrock.address)
        yield app


async def test_system_messages_stay_system(v1: ModelApp) -> None:
    v1.openai.script.append(say("はい"))
    messages: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": "Answer as a pirate."},
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "two"},
        {"role": "user", "content": "three"},
        {"role": "developer", "content": [{"type": "text", "text": "短く答えて。"}]},
    ]
    await v1.client.chat.completions.create(model="chat", messages=messages)
    system, *others = v1.openai.seen[0]["messages"]
    assert system["role"] == "system"
    assert system["content"].endswith("Answer as a pirate.\n\n短く答えて。")
    assert others == [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "two"},
        {"role": "user", "content": "three"},
    ]


@pytest.mark.parametrize("stream", [False, True])
async def test_parameters_reach_the_model(v1: ModelApp, stream: bool) -> None:
    given: dict[str, Any] = {
        "temperature": 0.2,
        "top_p": 0.9,
        "max_tokens": 50,
        "stop": ["\n\n", "終"],
        "seed": 7,
        "response_format": {"type": "json_object"},
        "presence_penalty": 0.5,
        "frequency_penalty": -0.5,
        "logit_bias": {"42": -100},
        "reasoning_effort": "low",
        "top_k": 20,
        "min_p": 0.1,
        "chat_template_kwargs": {"enable_thinking": False},
        "user": "aiko",
    }
    v1.openai.script.append(say("{}"))
    answer = await v1.client.chat.completions.create(
        model="chat", messages=[QUESTION], stream=stream, extra_body={**given, "n": 1, "store": False, "logprobs": None}
    )
    if stream:
        assert [chunk async for chunk in answer]  # type: ignore[union-attr]
    sent = v1.openai.seen[0]
    assert {name: sent[name] for name in given} == given
    assert not {"n", "store", "logprobs"} & sent.keys()


async def test_local_servers_get_the_former_name_of_the_token_limit(v1: ModelApp) -> None:
    v1.openai.script.append(say("x"))
    await v1.client.chat.completions.create(model="chat", messages=[QUESTION], max_completion_tokens=9)
    assert v1.openai.seen[0]["max_tokens"] == 9
    assert "max_completion_tokens" not in v1.openai.seen[0]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"n": 2}, "n"),
        ({"logprobs": True, "top_logprobs": 2}, "logprobs, top_logprobs"),
        ({"store": True}, "store"),
        ({"functions": []}, "functions"),
        ({"audio": {"voice": "a"}, "modalities": ["text", "audio"]}, "audio, modalities"),
        ({"mock_response": "hi"}, "mock_response"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_fields_that_cannot_be_followed_are_refused_by_name(
    v1: ModelApp, given: dict[str, Any], names: str
) -> None:
    with pytest.raises(BadRequestError, match=f": {names}\\. Leave them out"):
        await v1.client.chat.completions.create(model="chat", messages=[QUESTION], extra_body=given)
    assert v1.openai.seen == []


async def test_values_out_of_range_are_refused(v1: ModelApp) -> None:
    with pytest.raises(BadRequestError, match="temperature"):
        await v1.client.chat.completions.create(model="chat", messages=[QUESTION], temperature=3)


async def test_parameters_of_claude(v1: ModelApp) -> None:
    v1.anthropic.script.append(say("x"))
    await v1.client.chat.completions.create(
        model="adk",
        messages=[QUESTION],
        max_completion_tokens=60,
        stop="終",
        reasoning_effort="low",
        response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}},
    )
    sent = v1.anthropic.seen[0]
    assert (sent["max_tokens"], sent["stop_sequences"]) == (60, ["終"])
    assert sent["output_config"] == {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}}
    with pytest.raises(BadRequestError, match="does not take temperature, seed"):
        await v1.client.chat.completions.create(model="adk", messages=[QUESTION], seed=1, temperature=0.3)
    with pytest.raises(BadRequestError, match="does not take response_format"):
        await v1.client.chat.completions.create(
            model="adk", messages=[QUESTION], response_format={"type": "json_object"}
        )


async def test_parameters_of_bedrock(v1: ModelApp) -> None:
    v1.bedrock.script.append(say("x"))
    await v1.client.chat.completions.create(
        model="aws", messages=[QUESTION], temperature=0.1, top_p=0.5, max_tokens=60, stop=["終"]
    )
    assert v1.bedrock.seen[0]["inferenceConfig"] == {
        "maxTokens": 60,
        "temperature": 0.1,
        "topP": 0.5,
        "stopSequences": ["終"],
    }
    with pytest.raises(BadRequestError, match="does not take seed"):
        await v1.client.chat.completions.create(model="aws", messages=[QUESTION], seed=1, stream=True)


@pytest.mark.parametrize(
    ("status", "words", "code"),
    [
        (400, "Unsupported value: 'temperature' does not support 0.2", "models.parameter_refused"),
        (400, "This model does not support image input", "models.images_unsupported"),
        (400, "seed must not be negative", "models.request_rejected"),
        (422, "Input should be a valid string", "models.request_rejected"),
        (500, "This model does not support image input: mmproj is missing", "models.images_unsupported"),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
async def test_request_that_a_model_server_refuses_is_not_repeated(
    v1: ModelApp, stream: bool, status: int, words: str, code: str
) -> None:
    v1.openai.script.append(Refuse(status, words))
    client = v1.client.with_options(max_retries=2)
    with pytest.raises(BadRequestError) as caught:
        await client.chat.completions.create(model="chat", messages=[QUESTION], temperature=0.2, stream=stream)
    assert caught.value.response.json()["code"] == code
    assert len(v1.openai.seen) == 1


async def test_agent_without_a_model_refuses_parameters(v1: ModelApp) -> None:
    with pytest.raises(BadRequestError, match="cannot follow temperature"):
        await v1.client.chat.completions.create(model="notes", messages=[QUESTION], temperature=0)


async def test_answer_that_a_limit_leaves_empty_is_no_error(v1: ModelApp) -> None:
    v1.openai.script.append(Say(limited=True))
    answer = await v1.client.chat.completions.create(model="chat", messages=[QUESTION], max_tokens=1)
    assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == ("", "length")


async def test_calls_of_the_clients_tools_are_returned(v1: ModelApp) -> None:
    calls = Use("get_weather", TOKYO, "c1"), Use("get_weather", '{"city": "Oslo"}', "c2")
    v1.openai.script.append(use(*calls, text="Let me see."))
    answer = await v1.client.chat.completions.create(model="chat", messages=[QUESTION], tools=[WEATHER])
    choice = answer.choices[0]
    assert (choice.finish_reason, choice.message.content) == ("tool_calls", "Let me see.")
    made = [call for call in choice.message.tool_calls or [] if isinstance(call, ChatCompletionMessageFunctionToolCall)]
    assert [(call.id, call.function.name, call.function.arguments) for call in made] == [
        ("c1", "get_weather", TOKYO),
        ("c2", "get_weather", '{"city": "Oslo"}'),
    ]
    assert answer.usage
    assert answer.usage.total_tokens == 10
    assert v1.openai.seen[0]["tools"] == [WEATHER]


async def test_calls_are_streamed(v1: ModelApp) -> None:
    v1.openai.script.append(use(Use("get_weather", TOKYO, "c1"), Use("get_weather", "{}", "c2")))
    async with v1.client.chat.completions.stream(model="chat", messages=[QUESTION], tools=[WEATHER]) as stream:
        answer = await stream.get_final_completion()
    assert answer.choices[0].finish_reason == "tool_calls"
    calls = answer.choices[0].message.tool_calls or []
    assert [(call.id, call.function.name, call.function.arguments) for call in calls] == [
        ("c1", "get_weather", TOKYO),
        ("c2", "get_weather", "{}"),
    ]


async def test_results_reach_the_model_after_their_calls(v1: ModelApp) -> None:
    v1.openai.script.append(say("東京は晴れです。"))
    answer = await v1.client.chat.completions.create(model="chat", messages=ASKED, tools=[WEATHER])
    assert answer.choices[0].message.content == "東京は晴れです。"
    _, question, call, result = v1.openai.seen[0]["messages"]
    assert question == QUESTION
    assert json.loads(call["tool_calls"][0]["function"]["arguments"]) == {"city": "東京"}
    assert result == {"role": "tool", "tool_call_id": "c1", "content": "晴れ"}


async def test_results_reach_claude_and_bedrock(v1: ModelApp) -> None:
    for agent, server in (("adk", v1.anthropic), ("aws", v1.bedrock)):
        server.script.append(say("晴れです。"))
        await v1.client.chat.completions.create(model=agent, messages=ASKED, tools=[WEATHER])
        assert server.results(server.seen[0]) == [("c1", "晴れ")]
        assert "get_weather" in server.tools(server.seen[0])


async def test_results_without_tools_are_told_in_words(v1: ModelApp) -> None:
    v1.openai.script.append(say("晴れです。"))
    more: ChatCompletionMessageParam = {"role": "user", "content": "Thanks. And tomorrow?"}
    await v1.client.chat.completions.create(model="chat", messages=[*ASKED, more])
    sent = v1.openai.seen[0]["messages"]
    assert "tool" not in {message["role"] for message in sent}
    assert "晴れ" in sent[2]["content"]


async def test_own_tools_run_first_and_the_clients_are_called_again(v1: ModelApp) -> None:
    both = use(Use("echo", '{"text": "x"}', "c1"), Use("get_weather", TOKYO, "c2"))
    v1.openai.script.extend([both, use(Use("get_weather", TOKYO, "c3"))])
    answer = await v1.client.chat.completions.create(model="tools", messages=[QUESTION], tools=[WEATHER])
    calls = answer.choices[0].message.tool_calls or []
    assert [call.id for call in calls] == ["c3"]
    first, second = v1.openai.seen
    assert {"echo", "get_weather"} <= set(v1.openai.tools(first))
    assert [call["id"] for call in second["messages"][-2]["tool_calls"]] == ["c1"]
    assert v1.openai.results(second) == [("c1", "echo: x")]


async def test_clients_tool_takes_the_place_of_one_with_its_name(v1: ModelApp) -> None:
    echo: ChatCompletionFunctionToolParam = {"type": "function", "function": {"name": "echo", "strict": True}}
    v1.openai.script.append(use(Use("echo", "{}", "c1")))
    answer = await v1.client.chat.completions.create(model="tools", messages=[QUESTION], tools=[echo])
    assert answer.choices[0].finish_reason == "tool_calls"
    [sent] = [tool for tool in v1.openai.seen[0]["tools"] if tool["function"]["name"] == "echo"]
    assert sent["function"]["strict"] is True


async def test_choice_of_a_tool(v1: ModelApp) -> None:
    other: ChatCompletionFunctionToolParam = {"type": "function", "function": {"name": "other"}}
    create = v1.client.chat.completions.create
    v1.openai.script.extend([use(Use("get_weather")), use(Use("get_weather")), say("no")])
    await create(model="tools", messages=[QUESTION], tools=[WEATHER, other], tool_choice="required")
    await create(
        model="tools",
        messages=[QUESTION],
        tools=[WEATHER, other],
        tool_choice={"type": "function", "function": {"name": "get_weather"}},
    )
    await create(model="chat", messages=[QUESTION], tools=[WEATHER], tool_choice="none")
    required, named, none = v1.openai.seen
    assert (v1.openai.tools(required), required["tool_choice"]) == (["get_weather", "other"], "required")
    assert (v1.openai.tools(named), named["tool_choice"]) == (["get_weather"], "required")
    assert "tools" not in none
    for agent, server in (("adk", v1.anthropic), ("aws", v1.bedrock)):
        server.script.append(use(Use("get_weather", TOKYO)))
        await create(model=agent, messages=[QUESTION], tools=[WEATHER], tool_choice="required")
    assert v1.anthropic.seen[0]["tool_choice"] == {"type": "any"}
    assert v1.bedrock.seen[0]["toolConfig"]["toolChoice"] == {"any": {}}
    with pytest.raises(BadRequestError, match="not in `tools`"):
        await create(
            model="chat",
            messages=[QUESTION],
            tools=[WEATHER],
            tool_choice={"type": "function", "function": {"name": "nothing"}},
        )


async def test_result_of_an_unknown_call_is_refused(v1: ModelApp) -> None:
    stray: ChatCompletionMessageParam = {"role": "tool", "tool_call_id": "c9", "content": "?"}
    with pytest.raises(BadRequestError, match="must be the id of that call"):
        await v1.client.chat.completions.create(model="chat", messages=[*ASKED, stray], tools=[WEATHER])


async def test_a_model_by_its_id(v1: ModelApp) -> None:
    model = await v1.client.models.retrieve("chat")
    assert (model.id, model.object) == ("chat", "model")


def image(data: bytes, kind: str = "png") -> ChatCompletionContentPartImageParam:
    return {"type": "image_url", "image_url": {"url": f"data:image/{kind};base64,{b64encode(data).decode()}"}}


async def test_images_reach_a_model_that_sees(v1: ModelApp) -> None:
    v1.anthropic.script.append(say("赤"))
    parts: list[ChatCompletionContentPartParam] = [{"type": "text", "text": "何色？"}, image(png())]
    answer = await v1.client.chat.completions.create(model="adk", messages=[{"role": "user", "content": parts}])
    assert answer.choices[0].message.content == "赤"
    blocks = v1.anthropic.seen[0]["messages"][0]["content"]
    sources = [block["source"] for block in blocks if block["type"] == "image"]
    assert [(one["media_type"], one["data"]) for one in sources] == [("image/png", b64encode(png()).decode())]
    assert "何色？" in str(blocks)


async def test_images_that_cannot_be_seen_say_why(v1: ModelApp) -> None:
    elsewhere: ChatCompletionContentPartImageParam = {"type": "image_url", "image_url": {"url": "http://x.test/a.png"}}
    for model, part, words in (
        ("chat", image(png()), "cannot see images. Choose"),
        ("adk", elsewhere, "are not opened"),
        ("adk", image(b"no picture"), "Convert it"),
        ("adk", image(png()[:30]), "damaged"),
    ):
        with pytest.raises(BadRequestError, match=words):
            await v1.client.chat.completions.create(model=model, messages=[{"role": "user", "content": [part]}])
    assert v1.anthropic.seen == []
