"""Checks of Chie's own MCP servers, and of the agents and servers that the operator added."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from chie.doctor.finding import Finding, State, edit
from chie.errors import ChieError, ConfigurationError, ServiceError
from chie.messages.catalogue import Message
from chie.servers import AGENT_SERVERS, SERVERS, create_server
from chie.settings import load

AGENTS = "agents.json, servers.json"
FIXES = {
    "bedrock-kb": 'export BEDROCK_KB_ID="…" BEDROCK_MODEL_ARN="…" AWS_REGION="…" AWS_PROFILE="…"',
    "n8n": 'export N8N_URL="…" N8N_API_KEY="…"',
}


async def check_server(name: str, find_fix: Callable[[ChieError], Awaitable[str]] | None = None) -> Sequence[Finding]:
    """The server's own health check. `find_fix` chooses the fix by the error."""
    try:
        details = await _examine(name)
    except ChieError as error:
        state: State = "off" if isinstance(error, ConfigurationError) and not _is_configured(name) else "problem"
        return [Finding(name, state, error.reason, await find_fix(error) if find_fix else _find_fix(name, error))]
    shown = [f"{key}: {value}" for key, value in details.items()]
    return [Finding(name, "ok", Message("doctor.server_ok", details=shown))]


def _find_fix(name: str, error: ChieError) -> str:
    """The command in the error, as for a missing package, or the variables to set."""
    return str(error.reason.params.get("command") or FIXES[name])


async def _examine(name: str) -> dict[str, Any]:
    """Bedrock is also searched, because its health check only covers the settings."""
    server = create_server(name)
    async with server.connect():  # closes what the server has opened
        details = await server.examine()
        if name == "bedrock-kb" and (problem := await _try_search()):
            raise ServiceError("doctor.search_failed", problem=problem)
    return details


def _is_configured(name: str) -> bool:
    """Whether any of the server's settings is set: then a missing one is a problem. Notes need no settings."""
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


async def _try_search() -> str | None:
    """The text of the error, if there is one."""
    from chie.bedrock_kb.config import load_config
    from chie.bedrock_kb.requests import Search
    from chie.bedrock_kb.service import KnowledgeBase

    knowledge_base = KnowledgeBase(load_config())
    try:
        await knowledge_base.search(Search(query="Chie", max_results=1))
    except ChieError as error:
        return error.message
    finally:
        knowledge_base.close()
    return None


async def check_agents() -> Sequence[Finding]:
    """Whether `agents.json` and `servers.json` are valid; nothing is started."""
    from chie.chat.agents.assembly import open_agents
    from chie.chat.settings import ChatSettings

    settings = load(ChatSettings)
    try:
        not_started = ConfigurationError("doctor.server_not_started")
        open_agents(settings, dict.fromkeys(SERVERS, not_started), dict.fromkeys(AGENT_SERVERS, not_started))
    except ConfigurationError as error:
        return [Finding(AGENTS, "problem", error.reason, edit(settings.agents_file, settings.servers_file))]
    return [Finding(AGENTS, "ok", Message("doctor.agents_ok"))]


async def check_mcp_servers() -> Sequence[Finding]:
    """Connects to every server in `servers.json` and lists its tools."""
    from chie.chat.settings import ChatSettings
    from chie.chat.toolbox.servers_file import read_servers
    from chie.chat.toolbox.toolbox import create_toolbox

    settings = load(ChatSettings)
    try:
        specs = read_servers(settings)
    except ConfigurationError:
        return []  # check_agents reports it
    async with create_toolbox(settings, {}, specs) as toolbox:
        await toolbox.initialize_servers(specs)
        states = toolbox.states()
    found = []
    for server in states:
        name = f"MCP server {server.name}"
        if server.state == "connected":
            found.append(Finding(name, "ok", Message("doctor.mcp_server_ok", count=len(server.tools))))
        else:
            problem = Message("doctor.mcp_server_failed", problem=server.error or "")
            found.append(Finding(name, "problem", problem, edit(settings.servers_file)))
    return found or [Finding("MCP servers", "off", Message("doctor.mcp_servers_none"))]
