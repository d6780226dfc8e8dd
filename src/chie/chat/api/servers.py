"""The servers of tools that agents use."""

from fastapi import APIRouter

from chie.chat.api.schemas import Servers, errors
from chie.chat.api.state import ChatState

router = APIRouter(prefix="/api/mcp/servers", tags=["servers"])


@router.get("", responses=errors())
async def list_servers(chat: ChatState) -> Servers:
    """Each server's state; one that is down says why."""
    return Servers.model_validate({"servers": chat.agents.server_states()})
