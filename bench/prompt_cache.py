"""How many tokens of a conversation's requests a provider's prompt cache spares, from the requests that agents send.

    python -m bench.prompt_cache

A conversation with tool calls goes to loopback servers that speak Anthropic's and Bedrock's protocols. Their caches are
worked out from the request bodies: what is before a mark is kept, and read if a later request starts with the same.
Tokens are estimated at four characters each.
"""

import asyncio
import json
import os
from collections.abc import Sequence
from typing import Any

from tests.fakes.anthropic_server import AnthropicServer
from tests.fakes.bedrock_converse import ConverseServer
from tests.fakes.model_server import ModelServer, Use, say, use
from tests.fakes.workbench import Witness, create_workbench

from chie.chat.agents.base import BaseAgent, Turn
from chie.chat.agents.builtin import build_aws
from chie.chat.agents.dependencies import AgentDependencies
from chie.chat.agents.profile import Profile
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.connection import Connection
from chie.chat.toolbox.toolbox import Toolbox
from chie.chat.toolbox.transport import BuiltIn
from chie_agent_adk.agent import create_agent

TURNS = 10
QUESTION = "What did we decide about the limits of the proxy, and who wrote it down? " * 4
ANSWER = "The limit was raised to 4096 after the outage in September, and the note names the reasons. " * 12
MARKS = ("cache_control", "cachePoint")


def spared(requests: Sequence[dict[str, Any]]) -> tuple[int, int]:
    """The tokens of all requests, and those of them that the cache has."""
    kept: set[str] = set()
    total = cached = 0
    for request in requests:
        prefix, found, marked = "", 0, list[str]()
        for block in _blocks(request):
            if not _is_point(block):
                prefix += json.dumps({name: value for name, value in block.items() if name not in MARKS})
            if prefix in kept:
                found = len(prefix)
            if any(mark in block for mark in MARKS):
                marked.append(prefix)
        kept.update(marked)
        total, cached = total + len(prefix) // 4, cached + found // 4
    return total, cached


def _is_point(block: dict[str, Any]) -> bool:
    return set(block) == {"cachePoint"}


def _blocks(request: dict[str, Any]) -> list[dict[str, Any]]:
    """In the order in which providers read them: tools, instructions, messages."""
    tools = request.get("tools") or request.get("toolConfig", {}).get("tools", [])
    system = request.get("system", [])
    blocks = [*tools, *([{"text": system}] if isinstance(system, str) else system)]
    for message in request["messages"]:
        content = message["content"]
        blocks += [{"type": "text", "text": content}] if isinstance(content, str) else content
    return blocks


async def converse(agent: BaseAgent, server: ModelServer) -> None:
    history: list[Turn] = []
    for number in range(TURNS):
        server.script.extend([use(Use("lines", '{"count": 900}', f"c{number}"), text="Let me see. "), say(ANSWER)])
        asked = f"{number}: {QUESTION}"
        parts: list[dict[str, Any]] = [
            dict(event) async for event in agent.stream_chat(asked, history, "bench") if event["type"] != "done"
        ]
        said = "".join(part["content"] for part in parts if part["type"] == "message")
        history += [Turn(role="user", content=asked), Turn(role="assistant", content=said, parts=parts)]
    await agent.close()


async def measure() -> dict[str, tuple[int, int]]:
    found = {}
    settings = ChatSettings()
    async with Toolbox([Connection("workbench", BuiltIn(create_workbench(Witness())), timeout=5)]) as toolbox:
        dependencies = AgentDependencies(settings, toolbox, ["workbench"])
        with AnthropicServer() as server:
            profile = Profile(id="adk", base_url=server.address, api_key="sk-ant-1")
            await converse(create_agent(profile, dependencies), server)
            found["Anthropic"] = spared(server.seen)
        with ConverseServer() as converse_server:
            os.environ |= {
                "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": converse_server.address,
                "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
                "AWS_SECRET_ACCESS_KEY": "a-long-secret",
                "AWS_EC2_METADATA_DISABLED": "true",
            }
            await converse(build_aws(Profile(id="aws"), dependencies), converse_server)
            found["Amazon Bedrock"] = spared(converse_server.seen)
    return found


def main() -> None:
    for name, (total, cached) in asyncio.run(measure()).items():
        print(
            f"{name}: {cached:,} of {total:,} input tokens not resent ({cached / total:.0%}), {TURNS} turns with tools"
        )


if __name__ == "__main__":
    main()
