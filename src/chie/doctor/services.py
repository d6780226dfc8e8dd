"""What Chie uses: models, its own rooms, and the MCP servers that the operator added."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from chie.doctor.finding import Finding, State
from chie.errors import ChieError, ConfigurationError, ServiceError
from chie.servers import SERVERS, create_server
from chie.settings import load

if TYPE_CHECKING:
    from fastmcp import Client

    from chie.chat.settings import ChatSettings
    from chie.setup.endpoints import Endpoint, Outcome
    from chie.setup.settings import SetupSettings

SET = {
    "own": 'export OPENAI_BASE_URL="http://127.0.0.1:1234/v1"',
    "lm-studio": "lms server start",
    "ollama": "ollama serve",
    "openai": 'export OPENAI_API_KEY="…"',
    "anthropic": 'export ANTHROPIC_API_KEY="…"',
}
LOOKED_FOR = ("lm-studio", "ollama")  # on every machine, whether somebody wants them or not


async def check_embedding() -> Sequence[Finding]:
    from chie.knowledge.embedding.base import EmbeddingError
    from chie.knowledge.settings import KnowledgeSettings, create_embedder

    settings = load(KnowledgeSettings)
    if settings.knowledge_store == "vector-search":
        return [Finding("embedding model", "off", "Vector Search makes its own vectors.")]
    mend = "unset CHIE_EMBEDDING_URL" if settings.embedding_url else "pip install --force-reinstall chie"
    try:
        embedder = create_embedder(settings)
        vectors = await asyncio.to_thread(embedder.embed, ["知恵"])
    except EmbeddingError as error:
        return [Finding("embedding model", "problem", error.message, mend)]
    return [Finding("embedding model", "ok", f"{embedder.id} answers with {vectors.shape[1]} numbers.")]


async def check_models() -> Sequence[Finding]:
    """Each endpoint that was set; those of this machine are only looked for."""
    from chie.setup.endpoints import find_endpoints
    from chie.setup.settings import SetupSettings

    settings = load(SetupSettings)
    endpoints = find_endpoints(settings)
    answers, bedrock = await asyncio.gather(
        asyncio.gather(*(endpoint.test() for endpoint in endpoints)), _ask_bedrock(settings)
    )
    found = [_model(endpoint, outcome, settings) for endpoint, outcome in zip(endpoints, answers, strict=True)]
    if bedrock is not None:
        mend = f"aws sso login --profile {settings.aws_profile}" if settings.aws_profile else "aws configure"
        found.append(_answer("Amazon Bedrock", bedrock, mend))
    if all(finding.state != "ok" for finding in found):
        says = "No model answers, so the chat can only look through notes. Start LM Studio, or set a key."
        found.append(Finding("models", "warning", says, SET["openai"]))
    return found


def _model(endpoint: "Endpoint", outcome: "Outcome", settings: "SetupSettings") -> Finding:
    named = (settings.openai_base_url or "").rstrip("/") == endpoint.address
    looked_for = endpoint.id in LOOKED_FOR and not named
    if not outcome.ok and (endpoint.address is None or looked_for):
        says = "not set up" if endpoint.address is None else "not running"
        return Finding(endpoint.name, "off", f"{says[0].upper()}{says[1:]}.")
    return _answer(endpoint.name, outcome, SET[endpoint.id])


def _answer(name: str, outcome: "Outcome", mend: str) -> Finding:
    if outcome.ok:
        return Finding(name, "ok", f"answers; its models: {len(outcome.models)}, {outcome.models[0]} among them.")
    return Finding(name, "problem", outcome.problem or "does not answer.", outcome.install or mend)


async def _ask_bedrock(settings: "SetupSettings") -> "Outcome | None":
    from chie.setup.endpoints import ask_bedrock

    return await asyncio.to_thread(ask_bedrock, settings) if settings.has_aws else None


async def check_room(name: str, mend: Callable[[ChieError], Awaitable[str]] | None = None) -> Sequence[Finding]:
    """By the room's own word; `mend` where what helps depends on what is wrong."""
    try:
        details = await _ask_room(name)
    except ChieError as error:
        state: State = "off" if isinstance(error, ConfigurationError) and not _is_begun(name) else "problem"
        return [Finding(name, state, error.message, await mend(error) if mend else ROOM_FIXES[name])]
    return [Finding(name, "ok", f"{', '.join(f'{key} {value}' for key, value in details.items())}.")]


async def _ask_room(name: str) -> dict[str, Any]:
    """The Bedrock room is also asked a question, for its word is about settings alone."""
    from fastmcp import Client

    server = create_server(name)
    async with Client(server) as client:  # which also closes what the room has opened
        details = await server.examine()
        if name == "bedrock-kb" and (refused := await _try_search(client)):
            raise ServiceError(refused)
    return details


ROOM_FIXES = {
    "bedrock-kb": 'export BEDROCK_KB_ID="…" BEDROCK_MODEL_ARN="…" AWS_REGION="…" AWS_PROFILE="…"',
    "n8n": 'export N8N_URL="…" N8N_API_KEY="…"',
}


def _is_begun(name: str) -> bool:
    """Whether somebody has begun to set the room up: then what is missing is a fault. Notes are always wanted."""
    from chie.bedrock_kb.config import KBSettings
    from chie.n8n.settings import N8nSettings

    try:
        if name == "n8n":
            n8n = load(N8nSettings)
            return bool(n8n.url or n8n.api_key)
        if name == "bedrock-kb":
            bedrock = load(KBSettings)
            return bool(bedrock.bedrock_kb_id or bedrock.bedrock_model_arn)
    except ConfigurationError:
        return True
    return True


async def _try_search(client: "Client[Any]") -> str | None:
    found = await client.call_tool("kb_search", {"query": "Chie", "max_results": 1}, raise_on_error=False)
    return "".join(getattr(block, "text", "") for block in found.content) if found.is_error else None


async def check_agents() -> Sequence[Finding]:
    """Whether agents.json and servers.json can be read and name what exists; nothing is started."""
    from chie.chat.agents.builtin import open_agents
    from chie.chat.settings import ChatSettings

    settings = load(ChatSettings)
    rooms = {name: ConfigurationError("not asked") for name in SERVERS}
    try:
        open_agents(settings, rooms)
    except ConfigurationError as error:
        editor = f'"${{EDITOR:-vi}}" "{settings.agents_file}" "{settings.servers_file}"'
        return [Finding("agents.json, servers.json", "problem", error.message, editor)]
    return [Finding("agents.json, servers.json", "ok", "can be read.")]


async def check_servers() -> Sequence[Finding]:
    """Every server of servers.json is started or called, and asked for its tools."""
    from chie.chat.settings import ChatSettings
    from chie.chat.toolbox.toolbox import create_toolbox

    settings = load(ChatSettings)
    try:
        specs = _named_servers(settings)
    except ConfigurationError:
        return []  # check_agents tells of it
    async with create_toolbox(settings, {}, specs) as toolbox:
        await toolbox.initialize_servers(specs)
        states = toolbox.states()
    editor = f'"${{EDITOR:-vi}}" "{settings.servers_file}"'
    found = []
    for server in states:
        state: State = "ok" if server.state == "connected" else "problem"
        says = f"tools: {len(server.tools)}." if state == "ok" else str(server.error or "It gave no answer.")
        found.append(Finding(f"MCP server {server.name}", state, says, None if state == "ok" else editor))
    return found or [Finding("MCP servers", "off", "servers.json names none.")]


def _named_servers(settings: "ChatSettings") -> "dict[str, Any]":
    """Not the one that comes by itself: asking for it might download it."""
    from chie.chat.json_file import JsonFile
    from chie.chat.toolbox.servers_file import FETCH, FETCH_PACKAGE, read_servers

    content = JsonFile(settings.servers_file, required=False).content
    named = content.get("mcpServers", content) if isinstance(content, dict) else {}
    known = set(named) | ({FETCH} if FETCH_PACKAGE in named else set())
    return {name: spec for name, spec in read_servers(settings).items() if name in known}
