"""The MCP servers that agents use."""

from typing import Annotated

from fastapi import APIRouter, Path

from chie.chat.api.schemas import MAX_ID, Servers, ServerState
from chie.chat.api.state import ChatState
from chie.http.openapi_errors import errors

router = APIRouter(prefix="/api/mcp/servers", tags=["servers"])


@router.get("", responses=errors())
async def list_servers(chat: ChatState) -> Servers:
    """List the servers with their state. One that is down says why in `error`."""
    return Servers.model_validate({"servers": chat.agents.server_states()})


@router.post("/{name}/reconnect", responses=errors(404))
async def reconnect_server(chat: ChatState, name: Annotated[str, Path(min_length=1, max_length=MAX_ID)]) -> ServerState:
    """Reconnect a server and return its state. One that cannot be connected is a 500 that says why.

    Its command or URL cannot be set by a request.
    """
    return ServerState.model_validate(await chat.agents.reconnect_server(name))
