"""Summaries of a conversation's oldest turns: their event, what is kept of them, exports, and the agent's history."""

import pytest
from tests.fakes.agents import ForgetfulAgent
from tests.fakes.chat import ChatClient

from chie.chat.agents.context_budget import Summary
from chie.chat.agents.conversation import earlier_summary

pytestmark = pytest.mark.req("AG-2")

TEXT = "二つの\ufffd質問。\nTwo questions."


async def test_a_summary_is_announced_sent_and_kept(chat: ChatClient) -> None:
    session_id, events = await chat.ask("続けて", agent_id="forgetful")
    assert [event.event for event in events] == ["summary", "summary", "message", "done"]
    assert events[0].data == {"type": "summary", "questions": 2}
    assert events[1].data == {"type": "summary", "questions": 2, "content": TEXT}
    answer = (await chat.messages(session_id))[1]
    assert answer["content"] == "はい。"
    assert answer["parts"] == [events[1].data, {"type": "message", "content": "はい。"}]
    markdown = (await chat.client.get(f"/api/sessions/{session_id}/export")).text
    assert "Summary of the first 2 questions, which the model read in their place:\n>\n> 二つの" in markdown


async def test_agents_find_it_in_the_history_of_its_own_branch(chat: ChatClient) -> None:
    session_id, _ = await chat.ask("一", agent_id="forgetful")
    first = (await chat.messages(session_id))[0]["message_id"]
    await chat.ask("二", session_id=session_id, agent_id="forgetful")
    await chat.client.post(f"/api/chat/{first}/edit", json={"message": "別の"})
    histories = [history for _, history, _ in chat.agent(ForgetfulAgent).requests]
    assert [earlier_summary(history) for history in histories] == [None, Summary(2, TEXT), None]


async def test_one_that_was_not_finished_counts_for_nothing(chat: ChatClient) -> None:
    session_id, _ = await chat.ask("stop", agent_id="forgetful")
    await chat.ask("more", session_id=session_id, agent_id="forgetful")
    _, history, _ = chat.agent(ForgetfulAgent).requests[-1]
    assert history[1]["parts"] == [{"type": "summary", "questions": 2}]
    assert earlier_summary(history) is None
    assert (
        "Summary" not in (await chat.client.get(f"/api/sessions/{session_id}/export")).text.partition("## User")[2][:90]
    )
