"""Reconnecting an MCP server."""

from tests.fakes.chat import ChatClient

from chie.messages.catalogue import Message


async def test_server_is_reconnected_and_its_state_returned(chat: ChatClient) -> None:
    answer = await chat.client.post("/api/mcp/servers/time/reconnect")
    assert answer.status_code == 200
    assert (answer.json()["state"], answer.json()["error"]) == ("failed", "mcp-server-time is not installed.")


async def test_unknown_server_is_404(chat: ChatClient) -> None:
    answer = await chat.client.post("/api/mcp/servers/%E6%99%82%E8%A8%88/reconnect")
    assert (answer.status_code, answer.json()["detail"]) == (404, str(Message("toolbox.server_not_found")))
