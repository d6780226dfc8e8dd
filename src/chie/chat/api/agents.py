"""The agents."""

from typing import Any

from pydantic import BaseModel, Field

from chie.chat.api.models import ModelParameter
from chie.chat.api.state import ChatState
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/api/agents", tags=["agents"])


class Agent(BaseModel):
    """The keys of `chie.chat.agents.base.AgentInfo`. Codes and parameters are null where the text is not Chie's own."""

    agent_id: str
    name: str
    name_code: str | None
    name_params: dict[str, Any] | None
    description: str
    description_code: str | None
    description_params: dict[str, Any] | None
    supports_mcp: bool
    available: bool
    reason: str | None
    reason_code: str | None
    reason_params: dict[str, Any] | None
    model: str | None
    sees_images: bool
    reads_documents: bool
    servers: list[str] = Field(description="The MCP servers that it uses.")
    tool_tokens: int | None = Field(
        default=None,
        description="About how many tokens the descriptions of its tools take in every question; null while its "
        "servers are not connected, and without tools.",
    )
    model_parameters: list[ModelParameter] | None = Field(
        default=None, description="What its own model takes; null if its model cannot be chosen."
    )


class Agents(BaseModel):
    """`default_id` is the agent that answers if a request names none, and `preselected_id` the one that the page
    selects; null if there are no agents."""

    agents: list[Agent]
    default_id: str | None
    preselected_id: str | None


@router.get("", responses=errors())
async def list_agents(chat: ChatState) -> Agents:
    """List all agents. One that is not available says why in `reason`."""
    agents = await chat.agents.list_agents()
    default_id = await chat.agents.default_id() if agents else None
    preselected_id = await chat.agents.preselected_id() if agents else None
    return Agents.model_validate({"agents": agents, "default_id": default_id, "preselected_id": preselected_id})
