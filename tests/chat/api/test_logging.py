"""What the log has about a request, and what it does not."""

import logging

import pytest
from tests.fakes.agents import ToolAgent
from tests.fakes.chat import ChatClient

from chie.logging import request_id, stamp

SECRET = "極秘のメッセージ"


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.handler.addFilter(stamp)
    return caplog


def about(lines: pytest.LogCaptureFixture, request: str) -> list[tuple[str, str]]:
    records = [record for record in lines.records if getattr(record, "request", "") == request]
    return [(record.levelname, record.getMessage()) for record in records if record.name.startswith("chie.")]


@pytest.mark.req("CH-14")
async def test_request_id_is_logged_by_api_agent_and_tools(chat: ChatClient, lines: pytest.LogCaptureFixture) -> None:
    names = []

    class Listening(ToolAgent):
        id = "listening"

        def supports_mcp(self) -> bool:
            names.append(request_id())
            return True

    agent = Listening()
    chat.registry.register_agent(agent)
    with lines.at_level(logging.INFO):
        response = await chat.client.post("/api/chat/stream", json={"message": SECRET, "agent_id": "listening"})
    message, session = response.headers["x-chie-message"], response.headers["x-chie-session"]
    found = about(lines, response.headers["x-request-id"])
    assert [level for level, _ in found].count("WARNING") == 1
    assert [text for _, text in found if not text.startswith(("POST", f"message {message} is complete"))] == [
        f"agent listening answers message {message} of session {session}",
        f"message {message} calls tool fetch",
        "tool fetch succeeded",
        f"message {message} calls tool broken",
        "tool broken failed",
    ]
    assert any(text.startswith("POST /api/chat/stream 200 in ") for _, text in found)


@pytest.mark.req("CH-14")
async def test_messages_are_logged_at_debug_only(chat: ChatClient, lines: pytest.LogCaptureFixture) -> None:
    with lines.at_level(logging.INFO, logger="chie"):
        await chat.ask(SECRET, agent_id="tools")
        await chat.get("/api/sessions", query=SECRET)
        assert "tools" in lines.text
        assert SECRET not in lines.text
        assert "example.test" not in lines.text
    with lines.at_level(logging.DEBUG, logger="chie"):
        await chat.ask(SECRET, agent_id="tools")
        assert SECRET in lines.text
        assert "example.test" in lines.text


@pytest.mark.req("CH-14")
async def test_errors_are_warnings_and_bugs_are_errors_with_a_stack(
    chat: ChatClient, lines: pytest.LogCaptureFixture
) -> None:
    with lines.at_level(logging.INFO):
        await chat.ask("at once", agent_id="failing")
        assert "WARNING" in {record.levelname for record in lines.records}
        assert all(record.exc_info is None for record in lines.records)
        await chat.ask("bug", agent_id="failing")
    stacks = [record for record in lines.records if record.exc_info]
    assert [record.levelname for record in stacks] == ["ERROR"]
