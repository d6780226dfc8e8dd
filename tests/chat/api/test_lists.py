"""Agents and servers of tools, as the page shows them."""

from tests.fakes.agents import KINDS, SERVERS
from tests.fakes.chat import ChatClient


async def test_agents_tell_who_they_are_and_what_they_lack(chat: ChatClient) -> None:
    found = await chat.get("/api/agents")
    assert found["default_id"] == "scripted"
    assert [agent["id"] for agent in found["agents"]] == [kind.id for kind in KINDS]
    sick = next(agent for agent in found["agents"] if agent["id"] == "sick")
    assert sick == {
        "id": "sick",
        "name": "Sick",
        "description": "An agent for tests.",
        "supports_mcp": False,
        "available": False,
        "reason": "Set OPENAI_BASE_URL.",
        "model": None,
    }


async def test_servers_tell_their_state(chat: ChatClient) -> None:
    assert await chat.get("/api/mcp/servers") == {"servers": SERVERS}
