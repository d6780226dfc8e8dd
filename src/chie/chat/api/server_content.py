"""Prompts and resources of MCP servers, for the composer of the page."""

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from chie.chat.api.schemas import MAX_ID
from chie.chat.api.servers import ServerName
from chie.chat.api.state import ChatState
from chie.chat.sessions.entities import Attachment
from chie.chat.toolbox import server_content
from chie.chat.toolbox.server_content import MAX_ARGUMENTS, MAX_NAME, MAX_URI, Prompt, Resource
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/api/mcp", tags=["servers"])

AgentId = Annotated[str, Query(min_length=1, max_length=MAX_ID, description="The agent whose servers are asked.")]
ArgumentName = Annotated[str, Field(max_length=MAX_NAME)]
ArgumentValue = Annotated[str, Field(max_length=10_000)]


class Prompts(BaseModel):
    prompts: list[Prompt]


class Resources(BaseModel):
    resources: list[Resource]


class PromptRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    prompt: str = Field(min_length=1, max_length=MAX_NAME)
    arguments: dict[ArgumentName, ArgumentValue] = Field(default={}, max_length=MAX_ARGUMENTS)


class PromptText(BaseModel):
    text: str


class ResourceRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    uri: str = Field(min_length=1, max_length=MAX_URI)


@router.get("/prompts", responses=errors(404))
async def list_prompts(chat: ChatState, agent_id: AgentId) -> Prompts:
    """List the prompts of the agent's servers. Servers that fail are left out."""
    await chat.agents.toolbox.refresh()
    servers = chat.agents.get_agent(agent_id).mcp_servers()
    return Prompts(prompts=await server_content.list_prompts(await chat.agents.toolbox.connections(servers)))


@router.get("/resources", responses=errors(404))
async def list_resources(chat: ChatState, agent_id: AgentId) -> Resources:
    """List the resources of the agent's servers, without templates. Servers that fail are left out."""
    await chat.agents.toolbox.refresh()
    servers = chat.agents.get_agent(agent_id).mcp_servers()
    return Resources(resources=await server_content.list_resources(await chat.agents.toolbox.connections(servers)))


@router.post("/servers/{name}/prompt", responses=errors(404, 413))
async def get_prompt(chat: ChatState, name: ServerName, body: PromptRequest) -> PromptText:
    """Get the text of a prompt. What its assistant says is quoted."""
    connection = await chat.agents.toolbox.connection(name)
    return PromptText(text=await server_content.get_prompt(connection, body.prompt, body.arguments))


@router.post("/servers/{name}/resource", status_code=201, responses=errors(404, 413))
async def attach_resource(chat: ChatState, name: ServerName, body: ResourceRequest) -> Attachment:
    """Read a resource that the server lists, and keep it as an attachment for a question."""
    found = await server_content.read_resource(await chat.agents.toolbox.connection(name), body.uri)
    return await chat.attachments.save(await chat.reader.read(found.name, found.data))
