"""A destructive tool call waits for the user's approval."""

from collections.abc import AsyncGenerator

import pytest
from tests.fakes.agents import ANSWER, CautiousAgent, text
from tests.fakes.chat import ChatClient
from tests.fakes.sse import asking, following

from chie.chat.agents.base import Approve
from chie.chat.events import Event, ToolCall
from chie.chat.runs import runner
from chie.messages.catalogue import Message

CALL = "call-delete_everything"


@pytest.mark.parametrize(("approved", "content"), [(True, "deleted"), (False, "rejected by the user")])
async def test_tool_runs_only_if_approved(chat: ChatClient, approved: bool, content: str) -> None:
    async with asking(chat.client, "tidy up", agent_id="cautious") as reader:
        call = await reader.event()
        assert (call.event, call.data["approval"], call.data["id"]) == ("tool_call", "required", CALL)
        path = f"/api/chat/{reader.message_id}/approve"
        decided = await chat.client.post(path, json={"id": CALL, "approved": approved})
        assert decided.json() == {"id": CALL, "approved": approved}
        result, *_ = await reader.rest()
        assert (result.data["content"], result.data["is_error"]) == (content, not approved)


async def test_resumed_stream_has_the_waiting_call(chat: ChatClient) -> None:
    async with asking(chat.client, "tidy up", agent_id="cautious") as reader:
        await reader.event()
    async with following(chat.client, reader.message_id) as back:
        assert (await back.event()).data["approval"] == "required"
        await chat.client.post(f"/api/chat/{reader.message_id}/approve", json={"id": CALL})
        assert [event.id for event in await back.rest()] == [2, 3, 4]
    answer = (await chat.messages(reader.session_id))[-1]
    assert [part["type"] for part in answer["parts"]] == ["tool_call", "tool_result", "message"]


async def test_unknown_call_is_404_and_a_second_decision_is_409(chat: ChatClient) -> None:
    async with asking(chat.client, "tidy up", agent_id="cautious") as reader:
        await reader.event()
        path = f"/api/chat/{reader.message_id}/approve"
        assert (await chat.client.post(path, json={"id": "another"})).status_code == 404
        await chat.client.post(path, json={"id": CALL, "approved": False})
        await reader.rest()
    late = await chat.client.post(path, json={"id": CALL, "approved": True})
    assert (late.status_code, late.json()["detail"]) == (409, str(Message("chat.answer_ended", status="complete")))


async def test_decision_counts_for_one_call_even_if_the_model_reuses_its_id(chat: ChatClient) -> None:
    async with asking(chat.client, "drop", agent_id="persistent") as reader:
        path, results = f"/api/chat/{reader.message_id}/approve", []
        for approved in (True, False):
            assert (await reader.event()).data["approval"] == "required"
            await chat.client.post(path, json={"id": "call-drop_table", "approved": approved})
            results.append((await reader.event()).data["content"])
        await reader.rest()
    assert results == ["dropped", "rejected"]


async def test_stop_while_waiting_runs_nothing(chat: ChatClient) -> None:
    async with asking(chat.client, "tidy up", agent_id="cautious") as reader:
        await reader.event()
        await chat.client.post(f"/api/chat/{reader.message_id}/stop")
        assert [event.event for event in await reader.rest()] == ["done"]
    answer = (await chat.messages(reader.session_id))[-1]
    assert (answer["status"], [part["type"] for part in answer["parts"]]) == ("stopped", ["tool_call"])
    _, events = await chat.ask("and now?", session_id=reader.session_id, agent_id="scripted")
    assert "".join(event.text for event in events) == ANSWER


async def test_approval_times_out_as_a_denial(chat: ChatClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "APPROVAL_TIMEOUT_SECONDS", 0.01)
    _, events = await chat.ask("tidy up", agent_id="cautious")
    assert events[1].data["content"] == "rejected by the user"


async def test_v1_denies_tools_that_need_approval(chat: ChatClient) -> None:
    body = {"model": "cautious", "messages": [{"role": "user", "content": "tidy up"}]}
    answer = (await chat.client.post("/v1/chat/completions", json=body)).json()
    assert answer["choices"][0]["message"]["content"] == "I did not."


async def test_call_ids_may_be_very_long(chat: ChatClient, monkeypatch: pytest.MonkeyPatch) -> None:
    long = "call-" + "thought " * 1_000

    async def script(_: object, __: str, approve: Approve) -> AsyncGenerator[Event, None]:
        asked = ToolCall(type="tool_call", id=long, name="drop", arguments={}, approval="required")
        yield asked
        yield text(f"allowed: {await approve(asked)}")

    monkeypatch.setattr(CautiousAgent, "script", script)
    async with asking(chat.client, "tidy up", agent_id="cautious") as reader:
        await reader.event()
        await chat.client.post(f"/api/chat/{reader.message_id}/approve", json={"id": long})
        assert (await reader.rest())[0].text == "allowed: True"
