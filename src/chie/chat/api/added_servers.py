"""MCP servers by URL that an admin adds, tests, changes and removes. Programs are only in the operator's file."""

from chie.chat.api.added_server_schemas import (
    NewServer,
    ServerFields,
    ServerTrial,
    ServerTrialResult,
    details_of,
)
from chie.chat.api.admin import Admin
from chie.chat.api.schemas import AddedServerDetails
from chie.chat.api.servers import ServerName
from chie.chat.api.state import ChatState
from chie.chat.toolbox.transport import LOGIN_REQUIRED
from chie.http.openapi_errors import errors
from chie.http.routing import Router
from chie.messages.catalogue import Message

router = Router(prefix="/api/mcp/servers", tags=["servers"])

TRIAL = "new"  # the name of a server that has none yet


@router.post("", status_code=201, responses=errors(403, 409))
async def add_server(body: NewServer, chat: ChatState, _: Admin) -> AddedServerDetails:
    """Add an MCP server by its URL. Agents without servers of their own use it at once. For admins only."""
    added = chat.agents.toolbox.added
    await added.create(body.name, body.entered())
    return details_of(await added.get(body.name))


@router.post("/test", responses=errors(403, 404, 409))
async def run_server_test(body: ServerTrial, chat: ChatState, _: Admin) -> ServerTrialResult:
    """Connect to a server, stored or not, and list its tools, or say what is wrong. For admins only."""
    added, name = chat.agents.toolbox.added, body.name or TRIAL
    server = await added.draft_of(name, body.entered()) if body.added else added.drafted(name, body.entered())
    state = await chat.agents.toolbox.try_server(server)
    if state.state == "connected":
        return ServerTrialResult(ok=True, tools=[tool.original for tool in state.tools])
    if state.error is not None and state.error.code == LOGIN_REQUIRED:
        return ServerTrialResult(ok=True, login=True)
    return ServerTrialResult.failed(state.error or Message("endpoints.server_too_slow"))


@router.patch("/{name}", responses=errors(403, 404))
async def change_server(name: ServerName, body: ServerFields, chat: ChatState, _: Admin) -> AddedServerDetails:
    """Change a server that was added in the page. URL and headers stay if none are sent. For admins only."""
    added = chat.agents.toolbox.added
    await added.change(name, body.entered())
    return details_of(await added.get(name))


@router.delete("/{name}", status_code=204, responses=errors(403, 404))
async def remove_server(name: ServerName, chat: ChatState, _: Admin) -> None:
    """Remove a server that was added in the page, with its headers. For admins only."""
    await chat.agents.toolbox.added.delete(name)
    await chat.agents.toolbox.refresh()
