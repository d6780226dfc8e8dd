"""Sessions over HTTP: finding, renaming, switching agents, exporting and deleting."""

import json
from collections.abc import AsyncGenerator
from uuid import UUID

import pytest
from tests.fakes.agents import ANSWER, UNREACHABLE, GatedAgent, ToolAgent, call, done, result, text
from tests.fakes.chat import ChatClient
from tests.fakes.sse import asking

from chie.chat.events import Event, ToolCall


@pytest.mark.req("CH-11")
async def test_session_has_an_id_messages_an_agent_and_a_date(chat_on_both: ChatClient) -> None:
    session_id, events = await chat_on_both.ask("障害の原因は？\n詳しく教えて")
    session = await chat_on_both.get(f"/api/sessions/{session_id}")
    assert UUID(session["session_id"]).version == 4
    assert session["title"] == "障害の原因は？ 詳しく教えて"
    assert session["current_agent_id"] == "scripted"
    assert session["created_at"].endswith("Z")
    question, answer = session["messages"]
    assert (question["role"], question["content"], question["parent_id"]) == (
        "user",
        "障害の原因は？\n詳しく教えて",
        None,
    )
    assert (answer["role"], answer["content"], answer["parent_id"]) == ("assistant", ANSWER, question["message_id"])
    assert (answer["agent_id"], answer["status"], answer["output_tokens"]) == ("scripted", "complete", 9)
    assert answer["last_event_id"] == events[-1].id


async def test_long_first_message_makes_a_short_title(chat: ChatClient) -> None:
    session_id, _ = await chat.ask("あ" * 500)
    title = (await chat.get(f"/api/sessions/{session_id}"))["title"]
    assert title == "あ" * 59 + "…"


async def test_empty_session_takes_its_title_from_the_first_question(chat: ChatClient) -> None:
    made = await chat.client.post("/api/sessions", json={"agent_id": "echo"})
    assert made.status_code == 201
    assert (made.json()["title"], made.json()["current_agent_id"]) == ("", "echo")
    session_id, events = await chat.ask("こんにちは", session_id=made.json()["session_id"])
    assert session_id == made.json()["session_id"]
    assert events[0].text == "こんにちは"
    assert (await chat.get(f"/api/sessions/{session_id}"))["title"] == "こんにちは"


async def test_sessions_are_listed_newest_first_in_pages(chat_on_both: ChatClient) -> None:
    ids = [(await chat_on_both.ask(f"question {number}"))[0] for number in range(5)]
    await chat_on_both.ask("again", session_id=ids[1])
    expected = [ids[1], ids[4], ids[3], ids[2], ids[0]]
    found, cursor = [], None
    for size in (2, 2, 1):
        page = await chat_on_both.get("/api/sessions", limit=2, **({"cursor": cursor} if cursor else {}))
        assert len(page["sessions"]) == size
        found += [session["session_id"] for session in page["sessions"]]
        cursor = page["next_cursor"]
    assert found == expected
    assert cursor is None


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("障害", "nginx の障害"),
        ("ＮＧＩＮＸ", "nginx の障害"),
        ("ﾃﾞﾌﾟﾛｲ", "デプロイの手順"),
        ("Zürich", "Trip to Zürich"),
        ("100%", "100% sure"),
        ("in the answer", "echo"),
    ],
)
async def test_search_finds_titles_and_messages_in_both_languages(
    chat_on_both: ChatClient, query: str, expected: str
) -> None:
    for question in ("nginx の障害", "デプロイの手順", "Trip to Zürich", "100% sure", "1000 ways"):
        await chat_on_both.ask(question)
    session_id, _ = await chat_on_both.ask("only IN the answer", agent_id="echo")
    await chat_on_both.client.patch(f"/api/sessions/{session_id}", json={"title": "echo"})
    page = await chat_on_both.get("/api/sessions", query=query)
    assert [session["title"] for session in page["sessions"]] == [expected]


async def test_session_can_be_renamed_and_given_another_agent(chat_on_both: ChatClient) -> None:
    session_id, _ = await chat_on_both.ask("hello")
    path = f"/api/sessions/{session_id}"
    changed = await chat_on_both.client.patch(path, json={"title": " 新しい\n題 ", "current_agent_id": "echo"})
    assert (changed.status_code, changed.json()["title"]) == (200, "新しい 題")
    _, events = await chat_on_both.ask("わたし", session_id=session_id)
    assert events[0].text == "わたし"
    agents = [message["agent_id"] for message in await chat_on_both.messages(session_id)]
    assert agents == [None, "scripted", None, "echo"]
    refused = await chat_on_both.client.patch(path, json={"current_agent_id": "nobody"})
    assert refused.status_code == 404


async def test_deleted_session_is_gone_with_its_messages(chat_on_both: ChatClient) -> None:
    session_id, events = await chat_on_both.ask("forget me")
    assert (await chat_on_both.client.delete(f"/api/sessions/{session_id}")).status_code == 204
    assert (await chat_on_both.client.get(f"/api/sessions/{session_id}")).status_code == 404
    gone = await chat_on_both.client.get(f"/api/chat/stream/{events[-1].data['message_id']}")
    assert gone.status_code == 404
    assert (await chat_on_both.get("/api/sessions", query="forget"))["sessions"] == []


async def test_deleting_a_session_stops_its_answer(chat_on_both: ChatClient) -> None:
    agent = chat_on_both.agent(GatedAgent)
    async with asking(chat_on_both.client, "wait", agent_id="gated") as reader:
        agent.allow("some")
        await reader.event()
        assert (await chat_on_both.client.delete(f"/api/sessions/{reader.session_id}")).status_code == 204
        assert [event.event for event in await reader.rest()] == ["done"]
    assert agent.closed == 1


async def test_markdown_export_has_the_newest_branch(chat: ChatClient) -> None:
    session_id, _ = await chat.ask("探して", agent_id="tools")
    await chat.ask("later", session_id=session_id, agent_id="failing")
    response = await chat.client.get(f"/api/sessions/{session_id}/export")
    assert response.headers["content-type"] == "text/markdown; charset=utf-8"
    assert response.headers["content-disposition"].endswith(f'-{session_id[:8]}.md"')
    title, date, *body = response.text.split("\n\n")
    assert title == "# 探して"
    assert date.startswith("20")
    assert "\n\n".join(body) == (
        "## User\n\n探して\n\n## tools\n\nLet me look. \n\n"
        "> Tool `fetch` returned:\n>\n> 見つかりました\n> second line\n\n"
        "> Tool `broken` failed:\n>\n> the server is gone\n\nFound.\n\n"
        "## User\n\nlater\n\n## failing\n\nSo far so good\n\n"
        f"*(failed: {UNREACHABLE})*\n"
    )


async def test_markdown_export_has_no_double_blank_lines(chat: ChatClient, monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(*_: object) -> AsyncGenerator[Event, None]:
        yield text("\n")
        yield call("fetch")
        yield result("fetch", "見つかりました")
        yield text("Let me look.")
        yield call("fetch")
        yield result("fetch", "また")
        yield text("\n\nFound.")
        yield done()

    monkeypatch.setattr(ToolAgent, "script", script)
    session_id, _ = await chat.ask("探して", agent_id="tools")
    exported = (await chat.client.get(f"/api/sessions/{session_id}/export")).text
    assert exported.partition("## tools")[2] == (
        "\n\n> Tool `fetch` returned:\n>\n> 見つかりました\n\nLet me look.\n\n"
        "> Tool `fetch` returned:\n>\n> また\n\nFound.\n"
    )


async def test_json_export_has_every_branch(chat: ChatClient) -> None:
    session_id, events = await chat.ask("one")
    await chat.client.post(f"/api/chat/{events[-1].data['message_id']}/regenerate")
    response = await chat.client.get(f"/api/sessions/{session_id}/export", params={"format": "json"})
    exported = json.loads(response.text)
    assert exported == await chat.get(f"/api/sessions/{session_id}") | {
        "created_at": exported["created_at"],
        "updated_at": exported["updated_at"],
        "messages": exported["messages"],
    }
    assert [message["content"] for message in exported["messages"]] == ["one", ANSWER, ANSWER]


async def test_numbers_that_json_cannot_represent_become_null(
    chat: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python would write `NaN`, which browsers reject."""

    async def script(*_: object) -> AsyncGenerator[Event, None]:
        yield ToolCall(type="tool_call", id="1", name="count", arguments={"to": float("inf"), "by": [float("nan")]})
        yield done()

    monkeypatch.setattr(ToolAgent, "script", script)
    session_id, events = await chat.ask("count", agent_id="tools")
    assert events[0].data["arguments"] == {"to": None, "by": [None]}
    exported = await chat.client.get(f"/api/sessions/{session_id}/export?format=json")
    assert exported.json()["messages"][-1]["parts"][0]["arguments"] == {"to": None, "by": [None]}


async def test_search_ignores_surrounding_blanks(chat: ChatClient) -> None:
    await chat.ask("findable")
    assert len((await chat.get("/api/sessions", query=" findable "))["sessions"]) == 1


async def titles(chat: ChatClient, **params: object) -> list[str]:
    return [session["title"] for session in (await chat.get("/api/sessions", **params))["sessions"]]


@pytest.mark.req("AG-12")
async def test_pinned_sessions_can_be_listed_apart_from_the_others(chat_on_both: ChatClient) -> None:
    first, _ = await chat_on_both.ask("週報のひな形")
    await chat_on_both.ask("something else")
    pinned = await chat_on_both.client.patch(f"/api/sessions/{first}", json={"pinned": True})
    assert pinned.json()["pinned_at"].endswith("Z")
    assert await titles(chat_on_both, pinned=True) == ["週報のひな形"]
    assert await titles(chat_on_both, pinned=False) == ["something else"]
    assert await titles(chat_on_both) == ["something else", "週報のひな形"]
    await chat_on_both.client.patch(f"/api/sessions/{first}", json={"pinned": False})
    assert await titles(chat_on_both, pinned=True) == []


@pytest.mark.req("AG-12")
async def test_archived_session_leaves_the_list_but_is_found_and_comes_back_with_a_question(
    chat_on_both: ChatClient,
) -> None:
    session_id, _ = await chat_on_both.ask("去年の障害")
    path = f"/api/sessions/{session_id}"
    archived = await chat_on_both.client.patch(path, json={"archived": True})
    assert archived.json()["archived_at"].endswith("Z")
    assert await titles(chat_on_both) == []
    assert await titles(chat_on_both, archived=True) == ["去年の障害"]
    assert await titles(chat_on_both, query="障害") == ["去年の障害"]
    assert await titles(chat_on_both, query="障害", archived=False) == []
    await chat_on_both.ask("続き", session_id=session_id)
    assert await titles(chat_on_both) == ["去年の障害"]
    await chat_on_both.client.patch(path, json={"archived": True})
    restored = await chat_on_both.client.patch(path, json={"archived": False})
    assert (restored.json()["archived_at"], await titles(chat_on_both)) == (None, ["去年の障害"])
    refused = await chat_on_both.client.patch(path, json={})
    assert (refused.status_code, refused.json()["code"]) == (400, "sessions.nothing_to_change")
