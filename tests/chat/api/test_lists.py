"""The lists of agents and MCP servers."""

from tests.fakes.agents import KINDS, SERVERS
from tests.fakes.chat import ChatClient


async def test_agents_are_listed_with_the_reason_why_one_is_unavailable(chat: ChatClient) -> None:
    found = await chat.get("/api/agents")
    assert found["default_id"] == found["preselected_id"] == "scripted"
    assert [agent["agent_id"] for agent in found["agents"]] == [kind.id for kind in KINDS]
    sick = next(agent for agent in found["agents"] if agent["agent_id"] == "sick")
    assert sick == {
        "agent_id": "sick",
        "name": "Sick",
        "description": "An agent for tests.",
        "supports_mcp": False,
        "available": False,
        "reason": "Set OPENAI_BASE_URL.",
        "model": None,
        "sees_images": False,
        "reads_documents": True,
        "servers": [],
        "tool_tokens": None,
        "model_parameters": None,
        **{f"{field}_{part}": None for field in ("name", "description", "reason") for part in ("code", "params")},
    }


async def test_servers_are_listed_with_their_state(chat: ChatClient) -> None:
    found = (await chat.get("/api/mcp/servers"))["servers"]
    unset = dict.fromkeys(("error_code", "error_params", "login", "added"))
    assert found == [{**server, **unset} for server in SERVERS]
