"""Views of MCP Apps in the page: their HTML for a sandboxed frame, and their tool calls, which may need approval."""

from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, ConfigDict, Field

from chie.chat.api.schemas import MAX_ID
from chie.chat.api.servers import ServerName
from chie.chat.api.state import ChatState
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/api/mcp/servers", tags=["servers"])

Uri = Annotated[str, Query(min_length=1, max_length=2_048)]


class ViewCall(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tool: str = Field(min_length=1, max_length=MAX_ID)
    arguments: dict[str, Any] = {}
    approved: bool = Field(default=False, description="The user has approved this call.")


class ViewResult(BaseModel):
    """As in MCP."""

    content: list[dict[str, Any]]
    structuredContent: dict[str, Any] | None  # noqa: N815 - the protocol's name
    isError: bool  # noqa: N815


@router.get("/{name}/view", response_class=HTMLResponse, responses=errors(404))
async def get_view(chat: ChatState, name: ServerName, uri: Uri) -> HTMLResponse:
    """The HTML of a view. The response's policy takes its origin away, wherever it is opened."""
    view = await chat.agents.toolbox.view(name, uri)
    headers = {"Content-Security-Policy": view.policy, "X-Frame-Options": "SAMEORIGIN"}
    return HTMLResponse(view.html, headers=headers)


@router.post("/{name}/view/call", responses=errors(404, 409, 413))
async def call_from_view(chat: ChatState, name: ServerName, body: ViewCall) -> ViewResult:
    """Call a tool of the view's own server; 409 if the user must approve the call first."""
    outcome = await chat.agents.toolbox.call_from_view(name, body.tool, body.arguments, approved=body.approved)
    content = [dict(block) for block in outcome.blocks] or [{"type": "text", "text": outcome.content}]
    return ViewResult(content=content, structuredContent=outcome.structured, isError=outcome.is_error)
