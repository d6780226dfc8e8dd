"""The MCP servers that agents use."""

from typing import Annotated

from fastapi import Path

from chie.access.identity import known_user
from chie.chat.api.added_server_schemas import with_added
from chie.chat.api.admin import IsAdmin
from chie.chat.api.schemas import MAX_ID, Servers, ServerState
from chie.chat.api.state import ChatState
from chie.errors import ForbiddenError
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/api/mcp/servers", tags=["servers"])

ServerName = Annotated[str, Path(min_length=1, max_length=MAX_ID)]


@router.get("", responses=errors())
async def list_servers(chat: ChatState, admin: IsAdmin) -> Servers:
    """List the servers with their state. One that is down says why in `error`."""
    await chat.agents.toolbox.refresh()
    logged_in = await chat.agents.toolbox.logins.logged_in()
    states = chat.agents.server_states()
    servers = [
        {**state, "login": "connected"} if state["name"] in logged_in and not state.get("login") else state
        for state in states
    ]
    return Servers.model_validate({"servers": with_added(servers, await chat.agents.toolbox.added.list(), admin=admin)})


@router.post("/{name}/reconnect", responses=errors(404))
async def reconnect_server(chat: ChatState, name: ServerName) -> ServerState:
    """Reconnect a server and return its state. One that cannot be connected is a 500 that says why.

    Its command cannot be set by a request.
    """
    return ServerState.model_validate(await chat.agents.reconnect_server(name))


@router.post("/{name}/accept", responses=errors(403, 404))
async def accept_tools(chat: ChatState, name: ServerName) -> ServerState:
    """Accept tools whose definition has changed, so that approvals of them count again. For admins only."""
    if not known_user().admin:
        raise ForbiddenError("toolbox.accept_needs_admin")
    return ServerState.model_validate(await chat.agents.accept_tools(name))
