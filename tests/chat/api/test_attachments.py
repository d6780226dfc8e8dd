"""Files of questions over HTTP: stored once, given to agents, shared by branches, and deleted with the last session."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from sqlalchemy import URL, text
from tests.fakes.agents import EchoAgent, FakeAgent, FakeRegistry, done
from tests.fakes.chat import ChatClient, open_chat
from tests.fakes.office_files import docx, pdf
from tests.fakes.pictures import png

from chie.chat.agents.base import AgentInfo, Approve, Attachment, Turn
from chie.chat.events import Event, Text
from chie.chat.sessions import attachments as store
from chie.chat.sessions.entities import now

pytestmark = pytest.mark.req("AG-4")


class SeeingAgent(FakeAgent):
    id = "seeing"

    def __init__(self) -> None:
        super().__init__()
        self.files: list[list[Attachment]] = []

    async def get_agent_info(self) -> AgentInfo:
        return {**await super().get_agent_info(), "sees_images": True}

    async def stream_chat(
        self,
        message: str,
        history: Sequence[Turn],
        session_id: str,
        *,
        approve: Approve | None = None,  # noqa: ARG002
        attachments: Sequence[Attachment] = (),
    ) -> AsyncGenerator[Event, None]:
        self.requests.append((message, list(history), session_id))
        self.files.append(list(attachments))
        yield Text(type="message", content="seen")
        yield done()


class DeafAgent(EchoAgent):
    id = "deaf"

    async def get_agent_info(self) -> AgentInfo:
        return {**await super().get_agent_info(), "reads_documents": False}


@pytest.fixture
async def chat(both: URL) -> AsyncIterator[ChatClient]:
    async with open_chat(both, FakeRegistry(SeeingAgent(), EchoAgent(), DeafAgent())) as opened:
        yield opened


async def post(chat: ChatClient, name: str, data: bytes) -> httpx2.Response:
    return await chat.client.post("/api/attachments", files={"file": (name, data, "application/x-anything")})


async def upload(chat: ChatClient, name: str, data: bytes) -> dict[str, Any]:
    response = await post(chat, name, data)
    assert response.status_code == 201, response.text
    found: dict[str, Any] = response.json()
    return found


async def count(chat: ChatClient, table: str) -> int:
    async with chat.app.state.chat._database.read() as connection:
        found: int = (await connection.execute(text(f"SELECT count(*) FROM {table}"))).scalar_one()  # noqa: S608
        return found


async def test_file_is_described_and_returned(chat: ChatClient) -> None:
    picture = await upload(chat, "図.png", png(3, 2))
    report = await upload(chat, "報告.docx", docx("売上は120億円"))
    assert picture == {
        "attachment_id": picture["attachment_id"],
        "name": "図.png",
        "kind": "image",
        "media_type": "image/png",
        "size": len(png(3, 2)),
        "width": 3,
        "height": 2,
        "characters": None,
    }
    assert (report["kind"], report["characters"], report["width"]) == ("document", 8, None)
    shown = await chat.client.get(f"/api/attachments/{picture['attachment_id']}")
    assert (shown.content, shown.headers["content-type"]) == (png(3, 2), "image/png")
    assert shown.headers["content-disposition"] == "inline; filename*=UTF-8''%E5%9B%B3.png"
    assert shown.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert shown.headers["cache-control"] == "private, no-cache"
    again = {"If-None-Match": shown.headers["etag"]}
    assert (await chat.client.get(f"/api/attachments/{picture['attachment_id']}", headers=again)).status_code == 304
    saved = await chat.client.get(f"/api/attachments/{report['attachment_id']}")
    assert saved.headers["content-type"] == "application/octet-stream"
    assert saved.headers["content-disposition"].startswith("attachment;")
    words = await chat.client.get(f"/api/attachments/{report['attachment_id']}/text")
    assert (words.text, words.headers["content-type"]) == ("売上は120億円", "text/plain; charset=utf-8")


async def test_page_of_somebody_else_is_never_shown_as_a_page(chat: ChatClient) -> None:
    page = await upload(chat, "page.html", b"<html><body>words<script>alert(1)</script></body></html>")
    shown = await chat.client.get(f"/api/attachments/{page['attachment_id']}")
    assert shown.headers["content-type"] == "application/octet-stream"
    words = await chat.client.get(f"/api/attachments/{page['attachment_id']}/text")
    assert "alert" not in words.text


async def test_image_has_no_text(chat: ChatClient) -> None:
    picture = await upload(chat, "a.png", png())
    refused = await chat.client.get(f"/api/attachments/{picture['attachment_id']}/text")
    assert (refused.status_code, refused.json()["code"]) == (400, "attachments.text_missing")


async def test_agent_gets_the_files_now_and_later(chat: ChatClient) -> None:
    picture, report = await upload(chat, "図.png", png()), await upload(chat, "r.txt", "売上\n".encode())
    ids = [picture["attachment_id"], report["attachment_id"]]
    session, _ = await chat.ask("これは何？", attachments=ids)
    await chat.ask("And now?", session_id=session)
    given = [
        {"name": "図.png", "media_type": "image/png", "data": png()},
        {"name": "r.txt", "media_type": "text/plain", "text": "売上\n"},
    ]
    agent = chat.agent(SeeingAgent)
    assert agent.files == [given, []]
    assert agent.requests[1][1][0] == {"role": "user", "content": "これは何？", "attachments": given}
    question, *_ = await chat.messages(session)
    assert (question["content"], question["attachments"]) == ("これは何？", [picture, report])
    assert (await chat.get(f"/api/sessions/{session}"))["title"] == "これは何？"


async def test_file_alone_is_a_question(chat: ChatClient) -> None:
    picture = await upload(chat, "図.png", png())
    session, _ = await chat.ask("", attachments=[picture["attachment_id"]])
    conversation = await chat.get(f"/api/sessions/{session}")
    assert (conversation["messages"][0]["content"], conversation["title"]) == ("", "図.png")
    await chat.ask("more", session_id=session)
    assert chat.agent(SeeingAgent).requests[1][1][0]["content"] == ""
    nothing = await chat.client.post("/api/chat/stream", json={"message": " ", "attachments": []})
    assert nothing.json()["code"] == "sessions.message_required"


class TestAgentThatCannot:
    async def test_see_names_one_that_can_and_stores_nothing(self, chat: ChatClient) -> None:
        picture = await upload(chat, "図.png", png())
        body = {"message": "何？", "agent_id": "echo", "attachments": [picture["attachment_id"]]}
        refused = await chat.client.post("/api/chat/stream", json=body)
        assert (refused.status_code, refused.json()["code"]) == (400, "attachments.agent_cannot_see")
        assert refused.json()["params"] == {"agent": "Echo", "other": "Seeing"}
        assert await chat.get("/api/sessions") == {"sessions": [], "next_cursor": None}

    async def test_see_is_refused_for_edits_and_other_answers_too(self, chat: ChatClient) -> None:
        picture = await upload(chat, "図.png", png())
        session, _ = await chat.ask("何？", attachments=[picture["attachment_id"]])
        question, answer = await chat.messages(session)
        for path, body in (
            (f"{answer['message_id']}/regenerate", {"agent_id": "echo"}),
            (f"{question['message_id']}/edit", {"agent_id": "echo", "message": "他に？"}),
        ):
            refused = await chat.client.post(f"/api/chat/{path}", json=body)
            assert refused.json()["code"] == "attachments.agent_cannot_see"
        assert len(await chat.messages(session)) == 2

    async def test_see_when_nobody_can_tells_the_setting(self, both: URL) -> None:
        async with open_chat(both, FakeRegistry(EchoAgent())) as chat:
            picture = await upload(chat, "図.png", png())
            body = {"message": "何？", "attachments": [picture["attachment_id"]]}
            refused = await chat.client.post("/api/chat/stream", json=body)
        assert refused.json()["code"] == "attachments.nobody_sees"
        assert "CHIE_MODEL_VISION" in refused.json()["detail"]

    async def test_read_says_so(self, chat: ChatClient) -> None:
        report = await upload(chat, "r.txt", b"words")
        body = {"message": "何？", "agent_id": "deaf", "attachments": [report["attachment_id"]]}
        refused = await chat.client.post("/api/chat/stream", json=body)
        assert refused.json()["code"] == "attachments.agent_cannot_read"

    async def test_see_a_document_reads_it_in_the_message(self, chat: ChatClient) -> None:
        report = await upload(chat, "請求書.pdf", pdf("請求書 2026", "合計 12,000 円"))
        session, _ = await chat.ask("合計は？", agent_id="echo", attachments=[report["attachment_id"]])
        given = chat.agent(EchoAgent).requests[0][0]
        assert "[Page 2]\n\n合計 12,000 円" in given
        assert given.endswith("合計は？")
        assert (await chat.messages(session))[0]["content"] == "合計は？"


class TestBranches:
    async def test_edit_keeps_the_files_or_takes_others(self, chat: ChatClient) -> None:
        first, second = await upload(chat, "a.png", png()), await upload(chat, "b.txt", b"b")
        session, _ = await chat.ask("one", attachments=[first["attachment_id"]])
        question, answer = await chat.messages(session)
        edit = f"/api/chat/{question['message_id']}/edit"
        for body in ({"message": "two"}, {"message": "three", "attachments": [second["attachment_id"]]}):
            assert (await chat.client.post(edit, json=body)).status_code == 200
        assert (await chat.client.post(edit, json={"message": "four", "attachments": []})).status_code == 200
        assert (await chat.client.post(f"/api/chat/{answer['message_id']}/regenerate")).status_code == 200
        names = [[file["name"] for file in files] for files in chat.agent(SeeingAgent).files]
        assert names == [["a.png"], ["a.png"], ["b.txt"], [], ["a.png"]]
        shown = [m["attachments"] for m in await chat.messages(session) if m["role"] == "user"]
        assert shown == [[first], [first], [second], []]

    async def test_edit_without_words_needs_a_file(self, chat: ChatClient) -> None:
        first = await upload(chat, "a.png", png())
        session, _ = await chat.ask("one", attachments=[first["attachment_id"]])
        edit = f"/api/chat/{(await chat.messages(session))[0]['message_id']}/edit"
        assert (await chat.client.post(edit, json={"message": ""})).status_code == 200
        refused = await chat.client.post(edit, json={"message": "", "attachments": []})
        assert refused.json()["code"] == "sessions.message_required"


class TestStorage:
    async def test_content_is_stored_once(self, chat: ChatClient) -> None:
        first, again, renamed = [await upload(chat, name, png()) for name in ("a.png", "a.png", "b.png")]
        assert first["attachment_id"] == again["attachment_id"] != renamed["attachment_id"]
        assert (await count(chat, "attachment_files"), await count(chat, "attachments")) == (1, 2)

    async def test_files_go_with_the_last_session(self, chat: ChatClient) -> None:
        shared, own = await upload(chat, "a.png", png()), await upload(chat, "b.txt", b"b")
        ids = [shared["attachment_id"], own["attachment_id"]]
        first, _ = await chat.ask("one", attachments=ids)
        second, _ = await chat.ask("two", attachments=ids[:1])
        await chat.client.delete(f"/api/sessions/{first}")
        assert (await count(chat, "attachment_files"), await count(chat, "attachments")) == (1, 1)
        assert (await chat.client.get(f"/api/attachments/{ids[0]}")).content == png()
        await chat.client.delete(f"/api/sessions/{second}")
        assert (await count(chat, "attachment_files"), await count(chat, "attachments")) == (0, 0)
        assert (await chat.client.get(f"/api/attachments/{ids[0]}")).status_code == 404

    async def test_same_content_under_another_name_stays(self, chat: ChatClient) -> None:
        sent, kept = await upload(chat, "a.png", png()), await upload(chat, "b.png", png())
        session, _ = await chat.ask("one", attachments=[sent["attachment_id"]])
        await chat.client.delete(f"/api/sessions/{session}")
        assert (await chat.client.get(f"/api/attachments/{kept['attachment_id']}")).content == png()

    async def test_unsent_files_are_deleted_after_a_day(
        self, chat: ChatClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sent, forgotten = await upload(chat, "a.png", png()), await upload(chat, "b.txt", b"b")
        await chat.ask("one", attachments=[sent["attachment_id"]])
        monkeypatch.setattr(store, "now", lambda: now() + timedelta(hours=25))
        await chat.app.state.chat.attachments.delete_unsent()
        newest = await upload(chat, "c.txt", b"c")
        found = [
            (await chat.client.get(f"/api/attachments/{one['attachment_id']}")).status_code
            for one in (sent, forgotten, newest)
        ]
        assert found == [200, 404, 200]
        body = {"message": "?", "attachments": [forgotten["attachment_id"]]}
        refused = await chat.client.post("/api/chat/stream", json=body)
        assert (refused.status_code, refused.json()["code"]) == (404, "attachments.not_found")

    async def test_export_names_the_files(self, chat: ChatClient) -> None:
        report = await upload(chat, "報告.txt", b"secret words")
        session, _ = await chat.ask("What?", attachments=[report["attachment_id"]])
        markdown = (await chat.client.get(f"/api/sessions/{session}/export")).text
        assert "## User\n\nAttached files:\n\n- 報告.txt (text/plain, 12 bytes)\n\nWhat?" in markdown
        assert "secret" not in markdown
        exported = await chat.get(f"/api/sessions/{session}/export", format="json")
        assert exported["messages"][0]["attachments"] == [report]


async def test_files_survive_uploads_and_deletions_at_once(both: URL) -> None:
    """In several processes: nothing fails, and no file is missing that somebody has just uploaded again."""

    async def repeat(chat: ChatClient) -> None:
        for _ in range(8):
            file = await upload(chat, "a.png", png())
            body = {"message": "one", "attachments": [file["attachment_id"]]}
            asked = await chat.client.post("/api/chat/stream", json=body)
            assert asked.status_code == 200, asked.text
            deleted = await chat.client.delete(f"/api/sessions/{asked.headers['x-chie-session']}")
            assert deleted.status_code == 204, deleted.text

    async with open_chat(both, FakeRegistry(SeeingAgent())) as one, open_chat(both, FakeRegistry(SeeingAgent())) as two:
        await asyncio.gather(*(repeat(chat) for chat in (one, two, one, two)))
        assert await count(one, "message_attachments") == 0
        assert await count(one, "attachments") in (0, 1)  # one that was uploaded and not sent
        assert await count(one, "attachment_files") == await count(one, "attachments")


class TestRefusal:
    @pytest.mark.parametrize(
        ("name", "data", "code"),
        [
            ("a.txt", b"", "empty"),
            ("a.png", png()[:40], "image_damaged"),
            ("a.pdf", pdf("x", encrypted=True), "encrypted"),
            ("a.exe", b"MZ\x00\x01", "type_unsupported"),
        ],
    )
    async def test_has_a_code(self, chat: ChatClient, name: str, data: bytes, code: str) -> None:
        refused = await post(chat, name, data)
        assert (refused.status_code, refused.json()["code"]) == (400, f"attachments.{code}")
        assert refused.json()["params"]["name"] == name
        assert await count(chat, "attachment_files") == 0

    async def test_of_many_files(self, chat: ChatClient) -> None:
        refused = await chat.client.post("/api/chat/stream", json={"message": "?", "attachments": ["x"] * 11})
        assert refused.status_code == 400

    async def test_of_a_large_body(self, chat: ChatClient) -> None:
        too_large = await post(chat, "a.txt", b"x" * (20 * 1024 * 1024 + 1))
        assert (too_large.status_code, too_large.json()["code"]) == (400, "attachments.too_large")
        refused = await post(chat, "a.txt", b"x" * (22 * 1024 * 1024))
        assert (refused.status_code, refused.json()["code"]) == (413, "http.body_too_large")
