"""What each SDK sends of a conversation with tool calls: parallel, failed, refused and cut off; and of its branches."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.contract.agent import ask
from tests.fakes.agents import FakeRegistry
from tests.fakes.anthropic_server import AnthropicServer
from tests.fakes.bedrock_converse import ConverseServer
from tests.fakes.chat import open_chat, sqlite_url
from tests.fakes.model_server import ModelServer, Use, say, use
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.workbench import Witness, create_workbench

from chie.chat.agents.base import BaseAgent, Turn
from chie.chat.agents.builtin import build_aws, build_openai
from chie.chat.agents.conversation import CUT_OFF, NO_RESULT
from chie.chat.agents.dependencies import AgentDependencies
from chie.chat.agents.profile import Profile
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.connection import Connection
from chie.chat.toolbox.toolbox import Toolbox
from chie.chat.toolbox.transport import BuiltIn
from chie_agent_adk.agent import create_agent

pytestmark = pytest.mark.req("AG-1")


def called(number: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": number, "name": name, "arguments": arguments}


def returned(number: str, content: str, *, is_error: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "id": number, "name": "x", "content": content, "is_error": is_error}


def said(content: str) -> dict[str, Any]:
    return {"type": "message", "content": content}


HISTORY: tuple[Turn, ...] = (
    {"role": "user", "content": "find"},
    {
        "role": "assistant",
        "content": "Let me see. \n\nFound 42.",
        "parts": [
            {"type": "reasoning", "content": "hm"},
            said("Let me see. "),
            called("a", "echo", text="障害"),
            called("b", "fail"),
            returned("b", "broken", is_error=True),
            returned("a", "id 42"),
            said("\n\nFound 42."),
        ],
    },
    {"role": "user", "content": "delete it"},
    {
        "role": "assistant",
        "content": "I did not.",
        "parts": [called("c", "erase", what="42"), returned("c", "refused", is_error=True), said("I did not.")],
    },
    {"role": "user", "content": "again"},
    {"role": "assistant", "content": "", "parts": [called("d", "erase", what="42")]},
)


@asynccontextmanager
async def dependencies() -> AsyncIterator[AgentDependencies]:
    async with Toolbox([Connection("workbench", BuiltIn(create_workbench(Witness())), timeout=5)]) as toolbox:
        yield AgentDependencies(ChatSettings(), toolbox, ["workbench"])


async def sent(agent: BaseAgent, server: Any) -> Any:
    server.script.append(say("ok"))
    await ask(agent, "now?", history=HISTORY)
    await agent.close()
    return server.seen[0]["messages"]


async def test_openai() -> None:
    def call(number: str, name: str, arguments: str) -> dict[str, Any]:
        return {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}}

    def tool(number: str, content: str) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": number, "content": content}

    with OpenAIServer() as server:
        async with dependencies() as given:
            profile = Profile(id="x", base_url=server.base_url, model="m")
            system, *messages = await sent(build_openai(profile, given), server)
    assert system["role"] == "system"
    both = [call("a", "echo", '{"text": "障害"}'), call("b", "fail", "{}")]
    assert messages == [
        {"role": "user", "content": "find"},
        {"role": "assistant", "content": "Let me see.", "tool_calls": both},
        tool("a", "id 42"),
        tool("b", "broken"),
        {"role": "assistant", "content": "Found 42."},
        {"role": "user", "content": "delete it"},
        {"role": "assistant", "content": None, "tool_calls": [call("c", "erase", '{"what": "42"}')]},
        tool("c", "refused"),
        {"role": "assistant", "content": "I did not."},
        {"role": "user", "content": "again"},
        {"role": "assistant", "content": None, "tool_calls": [call("d", "erase", '{"what": "42"}')]},
        tool("d", NO_RESULT),
        {"role": "assistant", "content": CUT_OFF},
        {"role": "user", "content": "now?"},
    ]


async def test_anthropic() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}

    def text(role: str, content: str, **more: Any) -> dict[str, Any]:
        return {"role": role, "content": [{"type": "text", "text": content, **more}]}

    def call(number: str, name: str, **given: Any) -> dict[str, Any]:
        return {"type": "tool_use", "id": number, "name": name, "input": given}

    def tool(number: str, content: str, *, is_error: bool) -> dict[str, Any]:
        return {"type": "tool_result", "tool_use_id": number, "content": content, "is_error": is_error}

    with AnthropicServer() as server:
        async with dependencies() as given:
            profile = Profile(id="adk", base_url=server.address, api_key="k")
            messages = await sent(create_agent(profile, given), server)
    seen = {"type": "text", "text": "Let me see."}
    assert messages == [
        {"role": "user", "content": "find"},
        {"role": "assistant", "content": [seen, call("a", "echo", text="障害"), call("b", "fail")]},
        {"role": "user", "content": [tool("a", "id 42", is_error=False), tool("b", "broken", is_error=True)]},
        text("assistant", "Found 42."),
        {"role": "user", "content": "delete it"},
        {"role": "assistant", "content": [call("c", "erase", what="42")]},
        {"role": "user", "content": [tool("c", "refused", is_error=True)]},
        text("assistant", "I did not."),
        text("user", "again", **mark),
        {"role": "assistant", "content": [call("d", "erase", what="42")]},
        {"role": "user", "content": [tool("d", NO_RESULT, is_error=True)]},
        text("assistant", CUT_OFF),
        text("user", "now?", **mark),
    ]


async def test_bedrock(monkeypatch: pytest.MonkeyPatch) -> None:
    point = {"cachePoint": {"type": "default"}}

    def text(role: str, content: str, *more: Any) -> dict[str, Any]:
        return {"role": role, "content": [{"text": content}, *more]}

    def call(number: str, name: str, **given: Any) -> dict[str, Any]:
        return {"toolUse": {"toolUseId": number, "name": name, "input": given}}

    def tool(number: str, content: str, status: str) -> dict[str, Any]:
        return {"toolResult": {"toolUseId": number, "content": [{"text": content}], "status": status}}

    with ConverseServer() as server:
        for name, value in {"ENDPOINT_URL_BEDROCK_RUNTIME": server.address, "ACCESS_KEY_ID": "AK"}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        async with dependencies() as given:
            messages = await sent(build_aws(Profile(id="aws"), given), server)
    assert messages == [
        text("user", "find"),
        text("assistant", "Let me see.", call("a", "echo", text="障害"), call("b", "fail")),
        {"role": "user", "content": [tool("a", "id 42", "success"), tool("b", "broken", "error")]},
        text("assistant", "Found 42."),
        text("user", "delete it"),
        {"role": "assistant", "content": [call("c", "erase", what="42")]},
        {"role": "user", "content": [tool("c", "refused", "error")]},
        text("assistant", "I did not."),
        text("user", "again", point),
        {"role": "assistant", "content": [call("d", "erase", what="42")]},
        {"role": "user", "content": [tool("d", NO_RESULT, "error")]},
        text("assistant", CUT_OFF),
        text("user", "now?", point),
    ]


MARK = {"cache_control": {"type": "ephemeral"}}
POINT = {"cachePoint": {"type": "default"}}

# The first exchange of a session as each SDK sends it before the second question.
PATHS: dict[str, list[dict[str, Any]]] = {
    "openai": [
        {"role": "user", "content": "find it"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_0",
                    "type": "function",
                    "function": {"name": "echo", "arguments": '{"text": "id 42"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_0", "content": "echo: id 42"},
        {"role": "assistant", "content": "Found."},
    ],
    "anthropic": [
        {"role": "user", "content": [{"type": "text", "text": "find it", **MARK}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "call_0", "name": "echo", "input": {"text": "id 42"}}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call_0", "content": "echo: id 42", "is_error": False},
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "Found."}]},
    ],
    "bedrock": [
        {"role": "user", "content": [{"text": "find it"}, POINT]},
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "call_0", "name": "echo", "input": {"text": "id 42"}}}],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "call_0", "content": [{"text": "echo: id 42"}], "status": "success"}}
            ],
        },
        {"role": "assistant", "content": [{"text": "Found."}]},
    ],
}
SERVERS: dict[str, type[ModelServer]] = {
    "openai": OpenAIServer,
    "anthropic": AnthropicServer,
    "bedrock": ConverseServer,
}


def agent_of(sdk: str, server: Any, given: AgentDependencies) -> BaseAgent:
    match sdk:
        case "openai":
            return build_openai(Profile(id="scripted", base_url=server.base_url, model="m"), given)
        case "anthropic":
            return create_agent(Profile(id="scripted", base_url=server.address, api_key="k"), given)
    return build_aws(Profile(id="scripted"), given)


def question(sdk: str, text: str) -> dict[str, Any]:
    contents: dict[str, Any] = {
        "openai": text,
        "anthropic": [{"type": "text", "text": text, **MARK}],
        "bedrock": [{"text": text}, POINT],
    }
    return {"role": "user", "content": contents[sdk]}


@pytest.mark.parametrize("sdk", SERVERS)
async def test_edited_and_regenerated_branches(tmp_path: Path, sdk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each sends its own path through the session, and nothing of the other versions."""
    find = use(Use("echo", '{"text": "id 42"}', "call_0"))
    script = (find, say("Found."), say("Deleted."), say("Deleted again."), say("Kept."))
    with SERVERS[sdk](*script) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.address)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AK")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        async with dependencies() as given:
            agent = agent_of(sdk, server, given)
            async with open_chat(sqlite_url(tmp_path), FakeRegistry(agent)) as chat:  # type: ignore[arg-type]
                session_id, _ = await chat.ask("find it")
                await chat.ask("delete it", session_id=session_id)
                asked, answer = (await chat.messages(session_id))[2:]
                await chat.client.post(f"/api/chat/{answer['message_id']}/regenerate")
                await chat.client.post(f"/api/chat/{asked['message_id']}/edit", json={"message": "keep it"})
            await agent.close()
    requests = [[one for one in request["messages"] if one["role"] != "system"] for request in server.seen]
    deleted, again, kept = requests[2:]
    assert deleted == again == [*PATHS[sdk], question(sdk, "delete it")]
    assert kept == [*PATHS[sdk], question(sdk, "keep it")]
