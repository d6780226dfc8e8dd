"""Importing the exports of ChatGPT and Claude over HTTP: what is kept, what is skipped, and repeating it."""

import json
from typing import Any

import pytest
from tests.chat.imports import exports
from tests.chat.imports.exports import ALL, as_json, as_zip
from tests.fakes.chat import ChatClient

pytestmark = pytest.mark.req("AG-12")


async def send(chat: ChatClient, data: bytes, *, dry_run: bool = False) -> dict[str, Any]:
    """The last line of the report."""
    files = {"file": ("export.zip", data, "application/octet-stream")}
    answer = await chat.client.post("/api/sessions/import", params={"dry_run": dry_run}, files=files)
    assert answer.status_code == 200, answer.text
    report: dict[str, Any] = json.loads(answer.text.splitlines()[-1])
    return report


def counts(report: dict[str, Any]) -> tuple[int, int, int, int]:
    return report["new"], report["extended"], report["existing"], report["skipped_count"]


async def imported(chat: ChatClient, conversation: dict[str, Any]) -> dict[str, Any]:
    report = await send(chat, as_json(conversation))
    assert counts(report) == (1, 0, 0, 0), report
    [session] = (await chat.get("/api/sessions", query=" "))["sessions"] or (
        await chat.get("/api/sessions", archived=True)
    )["sessions"]
    found: dict[str, Any] = await chat.get(f"/api/sessions/{session['session_id']}")
    return found


def shown(conversation: dict[str, Any]) -> list[tuple[str, str]]:
    """The branch that the page opens."""
    by_id = {one["message_id"]: one for one in conversation["messages"]}
    branch, at = [], conversation["messages"][-1]["message_id"]
    while at:
        branch.append((by_id[at]["role"], by_id[at]["content"]))
        at = by_id[at]["parent_id"]
    return branch[::-1]


async def test_branches_dates_and_titles_of_chatgpt_are_kept(chat_on_both: ChatClient) -> None:
    found = await imported(chat_on_both, exports.chatgpt_2023())
    assert found["title"] == "nginx の障害"
    assert (found["created_at"], found["updated_at"]) == ("2023-05-02T04:00:00.500000Z", "2023-05-02T04:05:00.250000Z")
    assert shown(found) == [("user", "接続数を上げるには？"), ("assistant", "`worker_connections` を上げます。")]
    contents = [message["content"] for message in found["messages"]]
    assert contents == ["接続数を上げるには？", "古い答え", "本当？", "はい。", "`worker_connections` を上げます。"]
    question, old, edited, _, new = found["messages"]
    assert old["parent_id"] == new["parent_id"] == question["message_id"]
    assert edited["parent_id"] == old["message_id"]
    assert (new["agent_id"], new["status"], new["created_at"]) == ("ChatGPT", "complete", "2023-05-02T04:00:03Z")


async def test_tools_of_chatgpt_are_parts_of_the_answer_and_hidden_messages_are_left_out(
    chat_on_both: ChatClient,
) -> None:
    found = await imported(chat_on_both, exports.chatgpt_2024())
    assert found["archived_at"] is not None
    question, answer = found["messages"]
    assert question["content"] == "[image]\n\nWhat is in the chart?\n\n[file: 売上.xlsx]"
    assert answer["content"] == "It shows 42 ."
    assert answer["parts"] == [
        {"type": "tool_call", "id": "call-code", "name": "python", "arguments": {"code": "print(6 * 7)"}},
        {"type": "tool_result", "id": "call-code", "name": "python", "content": "42\n", "is_error": False},
        {"type": "message", "content": "It shows 42 ."},
    ]
    assert "secret" not in json.dumps(found)


async def test_reasoning_voice_and_an_unfinished_answer_of_chatgpt(chat: ChatClient) -> None:
    found = await imported(chat, exports.chatgpt_2025())
    assert found["title"] == "鍵はいくつ必要？"
    assert found["pinned_at"] is not None
    question, answer, again, unanswered = found["messages"]
    assert question["content"] == "鍵はいくつ必要？"
    assert answer["parts"][0] == {"type": "reasoning", "content": "条件を並べる\n鍵は二つ。"}
    assert (again["content"], unanswered["content"], unanswered["status"]) == ("Why?", "", "stopped")


async def test_text_of_attachments_of_claude_is_kept(chat_on_both: ChatClient) -> None:
    found = await imported(chat_on_both, exports.claude_2023())
    question, answer = found["messages"]
    assert (question["content"], answer["content"], answer["agent_id"]) == ("要約して", "要点は三つです。", "Claude")
    [file] = question["attachments"]
    assert (file["name"], file["kind"]) == ("pasted.txt", "document")
    text = await chat_on_both.client.get(f"/api/attachments/{file['attachment_id']}/text")
    assert text.text == "議事録の本文"


async def test_thinking_tools_and_branches_of_claude(chat_on_both: ChatClient) -> None:
    found = await imported(chat_on_both, exports.claude_2026())
    question, first, second = found["messages"]
    assert question["content"] == "How is the weather?\n\n[file: sky.png]"
    assert [file["name"] for file in question["attachments"]] == ["report.pdf.txt"]
    assert first["content"] == "first try"
    assert second["content"] == "Let me look.\n\nIt is sunny."
    assert [part["type"] for part in second["parts"]] == [
        "reasoning",
        "message",
        "tool_call",
        "tool_result",
        "message",
    ]
    assert second["parts"][2]["arguments"] == {"query": "東京 天気"}
    assert second["parts"][3]["content"] == "晴れ 21°C"


async def test_dry_run_says_what_would_be_imported_and_writes_nothing(chat_on_both: ChatClient) -> None:
    data = as_zip({"user.json": b"{}", "conversations.json": as_json(*(one() for one in ALL), {"x": 1})})
    planned = await send(chat_on_both, data, dry_run=True)
    assert counts(planned) == (5, 0, 0, 1)
    assert (await chat_on_both.get("/api/sessions", query="の"))["sessions"] == []
    done = await send(chat_on_both, data)
    assert counts(done) == counts(planned)
    assert (done["messages"], done["done"]) == (planned["messages"], True)
    assert counts(await send(chat_on_both, data, dry_run=True)) == (0, 0, 5, 1)


async def test_second_import_adds_only_new_messages(chat_on_both: ChatClient) -> None:
    conversation = exports.chatgpt_2023()
    before = await imported(chat_on_both, conversation)
    await chat_on_both.client.patch(f"/api/sessions/{before['session_id']}", json={"title": "my own name"})
    assert counts(await send(chat_on_both, as_json(conversation))) == (0, 0, 1, 0)
    later = exports.said("q9", "user", ["続き"], 1_683_100_000.0)
    conversation["mapping"]["q9"] = exports.node("q9", "a1-b", later)
    conversation["mapping"]["a9"] = exports.node("a9", "q9", exports.said("a9", "assistant", ["続きの答え"], None))
    conversation |= {"current_node": "a9", "update_time": 1_683_100_001.0}
    report = await send(chat_on_both, as_json(conversation, exports.claude_2023()))
    assert (counts(report), report["messages"]) == ((1, 1, 0, 0), 4)
    after = await chat_on_both.get(f"/api/sessions/{before['session_id']}")
    assert after["messages"][: len(before["messages"])] == before["messages"]
    assert [content for _, content in shown(after)][-2:] == ["続き", "続きの答え"]
    assert (after["title"], after["updated_at"]) == ("my own name", "2023-05-03T07:46:41Z")


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        ({"title": "壊れた会話", "id": "x", "mapping": {"a": 5}}, "imports.conversation_damaged"),
        ({"title": "壊れた会話", "mapping": {}}, "imports.conversation_damaged"),
        ({"title": "壊れた会話", "id": "x", "mapping": {}}, "imports.conversation_empty"),
        ({"name": "壊れた会話", "uuid": "x", "chat_messages": [7]}, "imports.conversation_damaged"),
        ({"title": "壊れた会話", "messages": []}, "imports.conversation_unknown"),
    ],
)
async def test_damaged_conversation_is_named_and_the_others_are_imported(
    chat: ChatClient, broken: dict[str, Any], code: str
) -> None:
    report = await send(chat, as_json(exports.chatgpt_2023(), broken, exports.claude_2026()))
    assert counts(report) == (2, 0, 0, 1)
    [skipped] = report["skipped"]
    assert (skipped["title"], skipped["code"]) == ("壊れた会話", code)


async def test_file_that_ends_too_early_gives_what_it_has(chat: ChatClient) -> None:
    whole = as_json(exports.chatgpt_2023(), exports.claude_2023())
    report = await send(chat, whole[:-50])
    assert counts(report) == (1, 0, 0, 1)
    assert report["skipped"][0]["code"] == "imports.file_ends"
    assert counts(await send(chat, whole)) == (1, 0, 1, 0)


async def test_circles_deep_nesting_and_odd_characters_do_no_harm(chat_on_both: ChatClient) -> None:
    circle = exports.chatgpt_2023()
    circle["mapping"]["q1"]["parent"] = "a2"
    odd = exports.claude_2023()
    odd["chat_messages"][1]["text"] = "a\x00b\ud800c"
    deep = b"[" * 100_000 + b"]" * 100_000
    joined = b"[" + b",".join([json.dumps(circle).encode(), json.dumps(odd).encode(), deep]) + b"]"
    report = await send(chat_on_both, joined)
    assert counts(report) == (1, 0, 0, 2)
    assert {skipped["code"] for skipped in report["skipped"]} == {
        "imports.conversation_empty",
        "imports.conversation_damaged",
    }
    [session] = (await chat_on_both.get("/api/sessions"))["sessions"]
    assert (await chat_on_both.messages(session["session_id"]))[-1]["content"] == "ab?c"


async def test_deep_arguments_leave_the_imported_conversation_readable(chat_on_both: ChatClient) -> None:
    """They are in a text, which the limit on the file's own nesting does not see."""
    export = exports.chatgpt_2024()
    [code] = [one for one in export["mapping"].values() if one["id"] == "code"]
    code["message"]["content"]["text"] = '{"query": "x", "cut": ' + "[" * 300 + "]" * 300 + "}"
    found = await imported(chat_on_both, export)
    assert found["messages"][-1]["parts"][0]["arguments"] == {"code": code["message"]["content"]["text"]}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "imports.not_an_export"),
        (b"hello", "imports.not_an_export"),
        (b"PK\x03\x04 broken", "imports.damaged_file"),
        (as_zip({"chat.html": b"<html>"}), "imports.no_conversations"),
        (as_zip({"conversations.json": b"no json"}), "imports.not_an_export"),
    ],
)
async def test_other_files_are_refused(chat: ChatClient, data: bytes, code: str) -> None:
    files = {"file": ("x.zip", data, "application/zip")}
    refused = await chat.client.post("/api/sessions/import", files=files)
    assert (refused.status_code, refused.json()["code"]) == (400, code)


async def test_archive_that_unpacks_to_too_much_is_stopped(chat: ChatClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chie.chat.imports.export_file.MAX_UNPACKED", 3 * 1024**2)
    many = as_json(exports.claude_2023(), "x" * 8 * 1024**2)
    report = await send(chat, as_zip({"conversations.json": many, "conversations-1.json": many}))
    assert (counts(report), report["skipped"][0]["code"]) == ((1, 0, 0, 1), "imports.too_large")
    bomb = as_zip({"conversations.json": b"[" + b" " * 4 * 1024**2})
    refused = await chat.client.post("/api/sessions/import", files={"file": ("x.zip", bomb, "application/zip")})
    assert refused.json()["code"] == "imports.too_large"


async def test_conversation_that_is_too_large_is_skipped(chat: ChatClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chie.chat.imports.export_file.MAX_CONVERSATION", 3_000)
    large = exports.claude_2023()
    large["chat_messages"][1]["text"] = "x" * 5_000
    report = await send(chat, as_json(large, exports.claude_2023()))
    assert (counts(report), report["skipped"][0]["code"]) == ((1, 0, 0, 1), "imports.conversation_too_large")


async def test_newer_exports_have_several_files(chat: ChatClient) -> None:
    first, second = as_json(exports.chatgpt_2023()), as_json(exports.chatgpt_2025())
    report = await send(chat, as_zip({"conversations-000.json": first, "conversations-001.json": second}))
    assert counts(report) == (2, 0, 0, 0)


async def test_imported_conversation_can_be_continued_edited_and_regenerated(chat_on_both: ChatClient) -> None:
    found = await imported(chat_on_both, exports.chatgpt_2025())
    session_id = found["session_id"]
    _, events = await chat_on_both.ask("次は？", session_id=session_id, agent_id="echo")
    assert events[0].text == "次は？"
    question = found["messages"][0]["message_id"]
    edited = await chat_on_both.client.post(f"/api/chat/{question}/edit", json={"message": "別の質問"})
    assert edited.status_code == 200
    again = await chat_on_both.client.post(f"/api/chat/{found['messages'][1]['message_id']}/regenerate")
    assert again.status_code == 200
    exported = await chat_on_both.client.get(f"/api/sessions/{session_id}/export")
    assert exported.status_code == 200
