"""`/v1/responses` with OpenAI's own client."""

import json
from typing import Any

import pytest
from openai import BadRequestError
from openai.types.responses import FunctionToolParam, ResponseFunctionToolCall
from tests.chat.api.test_openai_options import TOKYO, v1
from tests.fakes.model_app import ModelApp
from tests.fakes.model_server import Cut, Refuse, Say, Use, say, use

__all__ = ["v1"]

pytestmark = pytest.mark.req("AG-14")

WEATHER: FunctionToolParam = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    "strict": False,
}


async def test_question_and_instructions(v1: ModelApp) -> None:
    v1.openai.script.append(say("こんにちは、", "world"))
    response = await v1.client.responses.create(
        model="chat", input="挨拶して", instructions="Be brief.", temperature=0.3, max_output_tokens=40
    )
    assert (response.output_text, response.status) == ("こんにちは、world", "completed")
    assert response.usage
    assert (response.usage.input_tokens, response.usage.output_tokens, response.usage.total_tokens) == (7, 3, 10)
    sent = v1.openai.seen[0]
    assert sent["messages"][0]["content"].endswith("Be brief.")
    assert sent["messages"][1:] == [{"role": "user", "content": "挨拶して"}]
    assert (sent["temperature"], sent["max_tokens"]) == (0.3, 40)


async def test_items_and_formats(v1: ModelApp) -> None:
    v1.openai.script.append(say("{}"))
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    await v1.client.responses.create(
        model="chat",
        input=[
            {"role": "developer", "content": "日本語で。"},
            {"role": "user", "content": [{"type": "input_text", "text": "one"}]},
            {
                "type": "message",
                "role": "assistant",
                "id": "m",
                "status": "completed",
                "content": [{"type": "output_text", "text": "two", "annotations": []}],
            },
            {"role": "user", "content": "three"},
        ],
        text={"format": {"type": "json_schema", "name": "n", "schema": schema, "strict": True}},
        reasoning={"effort": "low"},
    )
    sent = v1.openai.seen[0]
    assert sent["messages"][0]["content"].endswith("日本語で。")
    assert v1.openai.turns(sent) == [("user", "one"), ("assistant", "two"), ("user", "three")]
    expected = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema, "strict": True}}
    assert (sent["response_format"], sent["reasoning_effort"]) == (expected, "low")


async def test_functions_and_their_outputs(v1: ModelApp) -> None:
    v1.openai.script.extend([use(Use("get_weather", TOKYO, "c1"), Use("get_weather", "{}", "c2")), say("晴れです。")])
    first = await v1.client.responses.create(model="chat", input="東京の天気は？", tools=[WEATHER])
    calls = [item for item in first.output if isinstance(item, ResponseFunctionToolCall)]
    assert [(call.call_id, call.name, call.arguments) for call in calls] == [
        ("c1", "get_weather", TOKYO),
        ("c2", "get_weather", "{}"),
    ]
    outputs: Any = [{"type": "function_call_output", "call_id": call.call_id, "output": "晴れ"} for call in calls]
    echoed: Any = [call.model_dump(exclude_none=True) for call in calls]
    second = await v1.client.responses.create(
        model="chat",
        input=[{"role": "user", "content": "東京の天気は？"}, *echoed, *outputs],
        tools=[WEATHER],
        tool_choice="auto",
    )
    assert second.output_text == "晴れです。"
    _, question, call, *results = v1.openai.seen[1]["messages"]
    assert question["content"] == "東京の天気は？"
    assert [json.loads(made["function"]["arguments"]) for made in call["tool_calls"]] == [{"city": "東京"}, {}]
    assert v1.openai.results(v1.openai.seen[1]) == [("c1", "晴れ"), ("c2", "晴れ")]
    assert len(results) == 2


async def test_events_of_a_stream(v1: ModelApp) -> None:
    v1.openai.script.append(Say(("知", "恵"), (Use("get_weather", TOKYO, "c1"),)))
    async with v1.client.responses.stream(model="chat", input="x", tools=[WEATHER]) as stream:
        events = [event async for event in stream]
        final = await stream.get_final_response()
    assert [event.type for event in events] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert final.output_text == "知恵"
    assert [item.type for item in final.output] == ["message", "function_call"]
    assert final.usage
    assert final.usage.total_tokens == 10


async def test_limit_leaves_a_response_incomplete(v1: ModelApp) -> None:
    v1.openai.script.extend([Say(("half",), limited=True)] * 2)
    response = await v1.client.responses.create(model="chat", input="x", max_output_tokens=1)
    assert response.status == "incomplete"
    assert response.incomplete_details
    assert response.incomplete_details.reason == "max_output_tokens"
    stream = await v1.client.responses.create(model="chat", input="x", max_output_tokens=1, stream=True)
    assert [event.type async for event in stream][-1] == "response.incomplete"


async def test_errors(v1: ModelApp) -> None:
    v1.openai.script.extend([Refuse(400), Cut("so far")])
    with pytest.raises(BadRequestError):
        await v1.client.responses.create(model="chat", input="x", stream=True)
    stream = await v1.client.responses.create(model="chat", input="x", stream=True)
    last = [event async for event in stream][-1]
    assert last.type == "response.failed"
    assert last.response.error
    assert "broke" in last.response.error.message or "connection" in last.response.error.message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"previous_response_id": "r"}, "previous_response_id"),
        ({"background": True}, "background"),
        ({"reasoning": {"summary": "detailed"}}, "reasoning.summary"),
        ({"text": {"style": "x"}}, "text.style"),
        ({"tools": [{"type": "web_search"}]}, "tools"),
        ({"input": [{"type": "item_reference", "id": "i"}]}, "item_reference"),
        ({"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]}, "Remove audio"),
        ({"input": []}, "1 to"),
        ({"reasoning": {"effort": 5}}, "reasoning_effort"),
    ],
    ids=["previous", "background", "summary", "text", "tools", "reference", "file", "empty", "effort"],
)
async def test_what_cannot_be_followed_is_refused_by_name(v1: ModelApp, given: dict[str, Any], message: str) -> None:
    with pytest.raises(BadRequestError, match=message):
        await v1.client.responses.create(**{"model": "chat", "input": "x", **given})
