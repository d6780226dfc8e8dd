"""The agents."""

from fastapi import APIRouter
from pydantic import BaseModel

from chie.chat.agents.base import AgentInfo
from chie.chat.api.state import ChatState
from chie.http.openapi_errors import errors

router = APIRouter(prefix="/api/agents", tags=["agents"])


class Agents(BaseModel):
    """`default_id` is the agent that answers if a request names none; null if there are no agents."""

    agents: list[AgentInfo]
    default_id: str | None


@router.get("", responses=errors())
async def list_agents(chat: ChatState) -> Agents:
    """List all agents. One that is not available says why in `reason`."""
    agents = await chat.agents.list_agents()
    default_id = await chat.agents.default_id() if agents else None
    return Agents(agents=agents, default_id=default_id)
