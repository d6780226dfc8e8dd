"""Searching sessions leads to the passage."""

from typing import Any

import pytest
from tests.fakes.chat import ChatClient


async def found(chat: ChatClient, query: str) -> list[Any]:
    sessions: list[Any] = (await chat.get("/api/sessions", query=query))["sessions"]
    return sessions


def marks(passage: dict[str, Any]) -> list[str]:
    return [passage["text"][start:end] for start, end in passage["ranges"]]


@pytest.mark.req("AG-8")
@pytest.mark.parametrize(
    ("text", "query", "mark"),
    [
        ("Please restart NGINX after the change", "ｎｇｉｎｘ", "NGINX"),
        ("変更の後で ﾃﾞﾌﾟﾛｲ をやり直す", "デプロイ", "ﾃﾞﾌﾟﾛｲ"),
    ],
)
async def test_a_hit_has_its_passage(chat_on_both: ChatClient, text: str, query: str, mark: str) -> None:
    session_id, _ = await chat_on_both.ask("first question", agent_id="echo")
    await chat_on_both.ask(text, session_id=session_id, agent_id="echo")
    await chat_on_both.ask(f"{text}, again", session_id=session_id, agent_id="echo")
    messages = await chat_on_both.messages(session_id)
    (session,) = await found(chat_on_both, query)
    passage = session["passage"]
    assert (passage["message_id"], passage["role"]) == (messages[2]["message_id"], "user")
    assert passage["text"] == text
    assert marks(passage) == [mark]
    assert passage["more"] == 3


@pytest.mark.req("AG-8")
async def test_a_title_alone_has_no_passage_and_neither_has_a_list(chat_on_both: ChatClient) -> None:
    session_id, _ = await chat_on_both.ask("question")
    await chat_on_both.client.patch(f"/api/sessions/{session_id}", json={"title": "障害の記録"})
    (session,) = await found(chat_on_both, "障害")
    assert session["passage"] is None
    assert (await chat_on_both.get("/api/sessions"))["sessions"][0]["passage"] is None


@pytest.mark.req("AG-8")
async def test_the_branch_that_is_shown_comes_before_a_hidden_one(chat_on_both: ChatClient) -> None:
    session_id, _ = await chat_on_both.ask("old words, and shared ones", agent_id="echo")
    question = (await chat_on_both.messages(session_id))[0]["message_id"]
    edited = await chat_on_both.client.post(
        f"/api/chat/{question}/edit", json={"message": "new words, and shared ones"}
    )
    assert edited.status_code == 200
    messages = await chat_on_both.messages(session_id)
    hidden = (await found(chat_on_both, "old words"))[0]["passage"]
    assert hidden["message_id"] in {messages[0]["message_id"], messages[1]["message_id"]}
    assert (await found(chat_on_both, "shared ones"))[0]["passage"]["message_id"] == messages[2]["message_id"]


@pytest.mark.req("AG-8")
async def test_patterns_of_sql_are_ordinary_text(chat_on_both: ChatClient) -> None:
    await chat_on_both.ask("100% sure", agent_id="echo")
    await chat_on_both.ask("1000 ways_to", agent_id="echo")
    assert marks((await found(chat_on_both, "100%"))[0]["passage"]) == ["100%"]
    assert [session["title"] for session in await found(chat_on_both, "s_t")] == ["1000 ways_to"]
