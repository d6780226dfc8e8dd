"""Regenerating and editing add branches and overwrite nothing."""

import asyncio
import json

import httpx2
import pytest
from tests.fakes.agents import ANSWER, EchoAgent, FakeAgent, GatedAgent
from tests.fakes.chat import ChatClient
from tests.fakes.sse import asking, parse

from chie.messages.catalogue import Message


async def test_regenerate_adds_another_answer(chat_on_both: ChatClient) -> None:
    session_id, events = await chat_on_both.ask("why?")
    first = events[-1].data["message_id"]
    response = await chat_on_both.client.post(f"/api/chat/{first}/regenerate", json={"agent_id": "echo"})
    assert parse(response.text)[0].text == "why?"
    question, old, new = await chat_on_both.messages(session_id)
    assert (old["message_id"], old["content"]) == (first, ANSWER)
    assert (new["content"], new["agent_id"]) == ("why?", "echo")
    assert old["parent_id"] == new["parent_id"] == question["message_id"]
    assert chat_on_both.agent(EchoAgent).requests == [("why?", [], session_id)]


async def test_edited_question_is_a_branch_without_later_messages(chat_on_both: ChatClient) -> None:
    session_id, _ = await chat_on_both.ask("first", agent_id="echo")
    await chat_on_both.ask("second", session_id=session_id)
    question = (await chat_on_both.messages(session_id))[2]
    response = await chat_on_both.client.post(f"/api/chat/{question['message_id']}/edit", json={"message": "other"})
    assert parse(response.text)[0].text == "other"
    messages = await chat_on_both.messages(session_id)
    assert [message["content"] for message in messages] == ["first", "first", "second", "second", "other", "other"]
    assert messages[4]["parent_id"] == question["parent_id"] == messages[1]["message_id"]
    history = [{"role": "user", "content": "first"}, {"role": "assistant", "content": "first"}]
    assert chat_on_both.agent(EchoAgent).requests[-1] == ("other", history, session_id)


async def test_question_continues_the_newest_branch_or_the_given_parent(chat: ChatClient) -> None:
    session_id, events = await chat.ask("first", agent_id="echo")
    first = events[-1].data["message_id"]
    await chat.ask("left", session_id=session_id)
    await chat.ask("right", session_id=session_id, parent_id=first)
    await chat.ask("on the right", session_id=session_id)
    heard = chat.agent(EchoAgent).requests[-1][1]
    assert [turn["content"] for turn in heard] == ["first", "first", "right", "right"]


async def test_only_a_question_can_be_edited_and_only_an_answer_be_a_parent(chat: ChatClient) -> None:
    session_id, _ = await chat.ask("q")
    question, answer = await chat.messages(session_id)
    edit = await chat.client.post(f"/api/chat/{answer['message_id']}/edit", json={"message": "x"})
    assert edit.status_code == 400
    assert edit.json()["detail"] == str(Message("sessions.not_a_question"))
    wrong = {"message": "x", "session_id": session_id, "parent_id": question["message_id"]}
    assert (await chat.client.post("/api/chat/stream", json=wrong)).status_code == 400
    other = (await chat.messages((await chat.ask("elsewhere"))[0]))[-1]["message_id"]
    foreign = {"message": "x", "session_id": session_id, "parent_id": other}
    assert (await chat.client.post("/api/chat/stream", json=foreign)).status_code == 404


async def test_streaming_answer_cannot_be_regenerated(chat: ChatClient) -> None:
    async with asking(chat.client, "wait", agent_id="gated") as reader:
        refused = await chat.client.post(f"/api/chat/{reader.message_id}/regenerate")
        assert refused.status_code == 409
        chat.agent(GatedAgent).finish()
        await reader.rest()


@pytest.mark.req("AG-12")
async def test_two_agents_answer_one_question_at_the_same_time(chat_on_both: ChatClient) -> None:
    chat, gated = chat_on_both, chat_on_both.agent(GatedAgent)
    async with asking(chat.client, "wait", agent_id="gated") as reader:
        path = f"/api/chat/{reader.message_id}/regenerate"
        second = await chat.client.post(path, json={"agent_id": "echo", "beside": True})
        assert parse(second.text)[0].text == "wait"
        session_id = second.headers["x-chie-session"]
        question, first, other = await chat.messages(session_id)
        assert [first["status"], other["status"]] == ["streaming", "complete"]
        assert first["parent_id"] == other["parent_id"] == question["message_id"]
        assert (await chat.client.post(path)).status_code == 409
        gated.finish()
        await reader.rest()
    session = (await chat.client.get(f"/api/sessions/{session_id}")).json()
    assert session["current_agent_id"] == "gated"
    assert [message["status"] for message in session["messages"]] == ["complete"] * 3


@pytest.mark.req("AG-12")
async def test_a_third_answer_at_the_same_time_is_409(chat: ChatClient) -> None:
    async with asking(chat.client, "wait", agent_id="gated") as reader:
        path, body = f"/api/chat/{reader.message_id}/regenerate", {"agent_id": "gated", "beside": True}
        async with chat.client.stream("POST", path, json=body) as second:
            assert second.status_code == 200
            third = await chat.client.post(path, json=body)
            assert (third.status_code, third.json()["code"]) == (409, "sessions.answer_in_progress")
            for _ in range(2):
                chat.agent(GatedAgent).finish()
            await second.aread()
        await reader.rest()


async def test_history_has_partial_and_failed_answers(chat: ChatClient) -> None:
    session_id, _ = await chat.ask("later", agent_id="failing")
    await chat.ask("at once", session_id=session_id)
    await chat.ask("well?", session_id=session_id, agent_id="scripted")
    heard = chat.agent(FakeAgent).requests[-1][1]
    assert heard == [
        {"role": "user", "content": "later"},
        {"role": "assistant", "content": "So far so good"},
        {"role": "user", "content": "at once"},
        {"role": "assistant", "content": "(This answer failed before it began.)"},
    ]


@pytest.mark.req("AG-1")
async def test_history_has_the_tool_calls_of_its_branch(chat_on_both: ChatClient) -> None:
    session_id, _ = await chat_on_both.ask("use it", agent_id="tools")
    await chat_on_both.ask("and now?", session_id=session_id, agent_id="scripted")
    parts = chat_on_both.agent(FakeAgent).requests[-1][1][1]["parts"]
    kinds = ["message", "tool_call", "tool_result", "tool_call", "tool_result", "message"]
    assert [part["type"] for part in parts] == kinds
    assert [part["is_error"] for part in parts if part["type"] == "tool_result"] == [False, True]
    assert parts == (await chat_on_both.messages(session_id))[1]["parts"]


@pytest.mark.parametrize("action", ["edit", "regenerate"])
async def test_second_edit_or_regeneration_at_once_is_409(chat_on_both: ChatClient, action: str) -> None:
    chat, gated = chat_on_both, chat_on_both.agent(GatedAgent)
    session_id, _ = await chat.ask("元の質問", agent_id="echo")
    question, answer = await chat.messages(session_id)
    target = question if action == "edit" else answer
    body = {"agent_id": "gated"} | ({"message": "訂正した質問"} if action == "edit" else {})

    async def start() -> httpx2.Response:
        request = chat.client.build_request("POST", f"/api/chat/{target['message_id']}/{action}", json=body)
        return await chat.client.send(request, stream=True)

    responses = await asyncio.gather(*(start() for _ in range(5)))
    refused = [response for response in responses if response.status_code == 409]
    (accepted,) = [response for response in responses if response.status_code == 200]
    assert len(refused) == 4
    for response in refused:
        reason = json.loads(await response.aread())
        assert reason["code"] == "sessions.answer_in_progress"
        assert reason["params"] == {"message_id": accepted.headers["x-chie-message"]}
    gated.finish()
    await accepted.aread()
    assert len(gated.requests) == 1
    assert len(await chat.messages(session_id)) == (4 if action == "edit" else 3)
    gated.finish()
    again = await chat.client.post(f"/api/chat/{target['message_id']}/{action}", json=body)
    assert again.status_code == 200


async def test_question_can_be_edited_while_it_is_answered(chat: ChatClient) -> None:
    async with asking(chat.client, "typo", agent_id="gated") as reader:
        question, _ = await chat.messages(reader.response.headers["x-chie-session"])
        edit = {"message": "fixed", "agent_id": "echo"}
        edited = await chat.client.post(f"/api/chat/{question['message_id']}/edit", json=edit)
        assert (edited.status_code, parse(edited.text)[0].text) == (200, "fixed")
        chat.agent(GatedAgent).finish()
        await reader.rest()
