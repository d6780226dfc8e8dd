"""A conversation can be opened again, however deeply its models, tools and plug-ins nest their JSON."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import mcp_types
import pytest
from pydantic import SecretStr
from sqlalchemy import URL
from tests.fakes.agents import FakeAgent, FakeRegistry, call, done, result, text
from tests.fakes.chat import NO_PAGE, both, open_chat, postgres, serving
from tests.fakes.model_server import Use, say, use
from tests.fakes.n8n import KEY, FakeN8n
from tests.fakes.n8n_mcp import TOKEN
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.sse import Sse, parse

from chie.app import create_app
from chie.chat.agents.assembly import open_agents
from chie.chat.agents.base import Approve
from chie.chat.events import Event
from chie.chat.json_depth import MAX_DEPTH, is_too_deep
from chie.chat.module import ChatModule
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.result_text import to_outcome
from chie.n8n.server import create_server
from chie.n8n.settings import N8nSettings
from chie.settings import load

__all__ = ["both", "postgres"]

pytestmark = pytest.mark.req("CH-8")
NODE = {"name": "a", "type": "n8n-nodes-base.set", "typeVersion": 1, "position": [0, 0]}


def nested(levels: int) -> Any:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


async def opened_again(client: httpx2.AsyncClient, agent: str, message: str = "hi") -> tuple[list[Sse], int]:
    """The events, and the status of the conversation when it is opened."""
    response = await client.post("/api/chat/stream", json={"message": message, "agent_id": agent})
    found = await client.get(f"/api/sessions/{response.headers['x-chie-session']}")
    return parse(response.text), found.status_code


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize(("levels", "refused"), [(MAX_DEPTH - 9, False), (MAX_DEPTH, True), (400, True)])
async def test_arguments_of_a_model(
    tmp_path: Path, both: URL, monkeypatch: pytest.MonkeyPatch, levels: int, refused: bool, as_text: bool
) -> None:
    """Also those that a server reads as JSON from a text."""
    with FakeN8n() as n8n, OpenAIServer() as model:
        settings = N8nSettings(url=n8n.url, api_key=SecretStr(KEY), mcp_token=SecretStr(TOKEN), home=tmp_path / "n8n")
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        monkeypatch.setenv("CHIE_TITLES", "false")
        agents = open_agents(load(ChatSettings), {"n8n": create_server(settings)})
        app = create_app({}, agents, chat=ChatModule(both), page=NO_PAGE)
        nodes: Any = [{**NODE, "parameters": {"x": nested(levels)}}]
        arguments: Any = {"name": "w", "nodes": json.dumps(nodes) if as_text else nodes, "connections": {}}
        model.script.extend([use(Use("create_workflow", json.dumps(arguments))), say("ok")])
        async with serving(app) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
            events, status = await opened_again(client, "assistant")
    [answered] = [event.data for event in events if event.event == "tool_result"]
    assert answered["is_error"] is refused
    assert (bool(n8n.workflows), status, events[-1].event) == (not refused, 200, "done")


def test_structured_result_of_a_tool_is_left_out() -> None:
    content: list[mcp_types.ContentBlock] = [mcp_types.TextContent(type="text", text="text")]
    shown, hidden = (
        to_outcome(mcp_types.CallToolResult(content=content, structured_content={"x": nested(levels)}))
        for levels in (MAX_DEPTH - 1, MAX_DEPTH)
    )
    assert not is_too_deep(shown.structured)
    assert (hidden.structured, hidden.content, hidden.is_error) == (None, "text", False)


class Nesting(FakeAgent):
    id = "nesting"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        event = call("deep")
        event["arguments"] = {"x": nested(int(message))}
        yield event
        yield result("deep", "found")
        yield text("ok")
        yield done()


@pytest.mark.parametrize(("levels", "kind"), [(MAX_DEPTH - 1, "tool_call"), (MAX_DEPTH, "error"), (3_000, "error")])
async def test_events_of_a_plug_in(both: URL, levels: int, kind: str) -> None:
    async with open_chat(both, FakeRegistry(Nesting())) as chat:
        events, status = await opened_again(chat.client, "nesting", str(levels))
    assert (events[0].event, status) == (kind, 200)
