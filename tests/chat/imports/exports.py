"""Exports of ChatGPT and Claude as they have looked over the years, written by hand."""

import io
import json
import zipfile
from typing import Any


def node(key: str, parent: str | None, message: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"id": key, "message": message, "parent": parent, "children": []}


def said(key: str, role: str, parts: list[Any], at: float | None, *, kind: str = "text", **more: Any) -> dict[str, Any]:
    content = {"content_type": kind, "parts": parts}
    return {
        "id": key,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "update_time": None,
        "content": content,
        "status": "finished_successfully",
        "end_turn": None,
        "weight": 1.0,
        "metadata": {},
        "recipient": "all",
        **more,
    }


def mapping(*nodes: dict[str, Any]) -> dict[str, Any]:
    found = {one["id"]: one for one in nodes}
    for one in nodes:
        if one["parent"] in found:
            found[one["parent"]]["children"].append(one["id"])
    return found


HIDDEN = {"is_visually_hidden_from_conversation": True}


def chatgpt_2023() -> dict[str, Any]:
    """A regenerated answer and an edited question. The branch that was shown is not the newest one."""
    return {
        "title": "nginx の障害",
        "create_time": 1_683_000_000.5,
        "update_time": 1_683_000_300.25,
        "moderation_results": [],
        "current_node": "a1-b",
        "plugin_ids": None,
        "id": "11111111-aaaa-4bbb-8ccc-000000000001",
        "mapping": mapping(
            node("root", None),
            node("sys", "root", said("sys", "system", [""], None)),
            node("q1", "sys", said("q1", "user", ["接続数を上げるには？"], 1_683_000_001.0)),
            node("a1-a", "q1", said("a1-a", "assistant", ["古い答え"], 1_683_000_002.0)),
            node("a1-b", "q1", said("a1-b", "assistant", ["`worker_connections` を上げます。"], 1_683_000_003.0)),
            node("q2", "a1-a", said("q2", "user", ["本当？"], 1_683_000_100.0)),
            node("a2", "q2", said("a2", "assistant", ["はい。"], 1_683_000_101.0)),
        ),
    }


def chatgpt_2024() -> dict[str, Any]:
    """A data analysis: code for a tool, its output, an image that was uploaded and hidden instructions."""
    code = said("code", "assistant", [], 1_710_000_003.0, recipient="python")
    code["content"] = {"content_type": "code", "language": "unknown", "text": "print(6 * 7)"}
    output = said("out", "tool", [], 1_710_000_004.0)
    output["author"] = {"role": "tool", "name": "python", "metadata": {}}
    output["content"] = {"content_type": "execution_output", "text": "42\n"}
    context = said("ctx", "user", [], None, metadata=HIDDEN)
    context["content"] = {"content_type": "user_editable_context", "user_profile": "secret", "user_instructions": "x"}
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-abc", "size_bytes": 9}
    asked = said("q1", "user", [image, "What is in the chart?"], 1_710_000_001.0, kind="multimodal_text")
    asked["metadata"] = {"attachments": [{"id": "file-xyz", "name": "売上.xlsx", "mimeType": "x", "size": 1}]}
    return {
        "title": "Chart analysis",
        "create_time": 1_710_000_000.0,
        "update_time": 1_710_000_010.0,
        "conversation_id": "22222222-aaaa-4bbb-8ccc-000000000002",
        "id": "22222222-aaaa-4bbb-8ccc-000000000002",
        "current_node": "a1",
        "default_model_slug": "gpt-4o",
        "is_archived": True,
        "mapping": mapping(
            node("root", None),
            node("ctx", "root", context),
            node("q1", "ctx", asked),
            node("code", "q1", code),
            node("out", "code", output),
            node(
                "a1",
                "out",
                said("a1", "assistant", ["It shows 42 \ue200cite\ue202turn0search1\ue201."], 1_710_000_005.0),
            ),
        ),
    }


def chatgpt_2025() -> dict[str, Any]:
    """A thinking model, a voice message, and a question whose answer was never finished."""
    thoughts = said("th", "assistant", [], 1_740_000_002.0)
    thoughts["content"] = {
        "content_type": "thoughts",
        "thoughts": [{"summary": "条件を並べる", "content": "鍵は二つ。", "chunks": [], "finished": True}],
    }
    recap = said("recap", "assistant", [], 1_740_000_003.0)
    recap["content"] = {"content_type": "reasoning_recap", "content": "Thought for 5s"}
    voice = {"content_type": "audio_transcription", "text": "鍵はいくつ必要？", "direction": "in"}
    return {
        "title": "",
        "create_time": 1_740_000_000.0,
        "update_time": 1_740_000_020.0,
        "conversation_id": "33333333-aaaa-4bbb-8ccc-000000000003",
        "current_node": "q2",
        "is_starred": True,
        "is_archived": False,
        "mapping": mapping(
            node("client-created-root", None),
            node("q1", "client-created-root", said("q1", "user", [voice], 1_740_000_001.0, kind="multimodal_text")),
            node("th", "q1", thoughts),
            node("recap", "th", recap),
            node("a1", "recap", said("a1", "assistant", ["一つで足ります。"], 1_740_000_004.0)),
            node("q2", "a1", said("q2", "user", ["Why?"], 1_740_000_010.0)),
        ),
    }


def claude_2023() -> dict[str, Any]:
    """Text only, without content blocks or parents; a pasted text as an attachment."""
    return {
        "uuid": "44444444-aaaa-4bbb-8ccc-000000000004",
        "name": "議事録の要約",
        "created_at": "2023-09-01T01:02:03.456789+00:00",
        "updated_at": "2023-09-01T01:05:00.000000+00:00",
        "account": {"uuid": "x"},
        "chat_messages": [
            {
                "uuid": "m1",
                "text": "要約して",
                "sender": "human",
                "created_at": "2023-09-01T01:02:03.456789+00:00",
                "updated_at": "2023-09-01T01:02:03.456789+00:00",
                "attachments": [
                    {"file_name": "", "file_size": 12, "file_type": "txt", "extracted_content": "議事録の本文"}
                ],
                "files": [],
            },
            {
                "uuid": "m2",
                "text": "要点は三つです。",
                "sender": "assistant",
                "created_at": "2023-09-01T01:03:00+00:00",
                "attachments": [],
                "files": [],
            },
        ],
    }


def claude_2026() -> dict[str, Any]:
    """Content blocks with thinking and tools, parents, a regenerated answer, and an image without content."""
    blocks = [
        {"type": "thinking", "thinking": "I should search.", "summaries": []},
        {"type": "text", "text": "Let me look.", "citations": []},
        {"type": "tool_use", "id": "toolu_1", "name": "web_search", "input": {"query": "東京 天気"}},
        {
            "type": "tool_result",
            "tool_use_id": "toolu_1",
            "name": "web_search",
            "content": [{"type": "knowledge", "title": "Tokyo", "text": "晴れ 21°C"}],
            "is_error": False,
        },
        {"type": "text", "text": "It is sunny."},
    ]
    first = "00000000-0000-4000-8000-000000000000"
    return {
        "uuid": "55555555-aaaa-4bbb-8ccc-000000000005",
        "name": "Weather",
        "summary": "",
        "created_at": "2026-02-01T00:00:00Z",
        "updated_at": "2026-02-01T00:10:00Z",
        "chat_messages": [
            {
                "uuid": "h1",
                "sender": "human",
                "text": "",
                "content": [{"type": "text", "text": "How is the weather?"}],
                "attachments": [{"file_name": "report.pdf", "file_type": "pdf", "extracted_content": "Average: 18°C"}],
                "files": [{"file_name": "report.pdf"}, {"file_name": "sky.png"}],
                "created_at": "2026-02-01T00:00:01Z",
                "parent_message_uuid": first,
            },
            {
                "uuid": "r1",
                "sender": "assistant",
                "text": "first try",
                "content": [{"type": "text", "text": "first try"}],
                "created_at": "2026-02-01T00:00:02Z",
                "parent_message_uuid": "h1",
            },
            {
                "uuid": "r2",
                "sender": "assistant",
                "text": "",
                "content": blocks,
                "created_at": "2026-02-01T00:01:00Z",
                "parent_message_uuid": "h1",
            },
        ],
    }


ALL = (chatgpt_2023, chatgpt_2024, chatgpt_2025, claude_2023, claude_2026)


def as_json(*conversations: Any) -> bytes:
    return json.dumps(conversations, ensure_ascii=False).encode()


def as_zip(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()
