"""Logging in at remote MCP servers with OAuth, and out again.

The provider redirects to `callback`, which only leads on to the page: browsers do not send the page's strict cookie
with a redirect from another site. The page then calls `finish` as the signed-in user, who must have started the login.
"""

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Query, Request
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, ConfigDict, Field

from chie.access.proxy import base_url
from chie.chat.api.schemas import ServerState
from chie.chat.api.servers import ServerName
from chie.chat.api.state import ChatState
from chie.errors import ConflictError
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/api/mcp", tags=["servers"])

CALLBACK = "/api/mcp/oauth/callback"
CLIENT_DOCUMENT = "/api/mcp/oauth/client.json"
MAX_PARAMETER = 4_096
MAX_REASON = 200

Parameter = Annotated[str | None, Query(max_length=MAX_PARAMETER)]


class LoginStart(BaseModel):
    url: str = Field(description="The provider's page at which the user logs in.")


class LoginEnd(BaseModel):
    """What the provider sent with its redirect."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    state: str = Field(min_length=1, max_length=MAX_PARAMETER)
    code: str | None = Field(default=None, max_length=MAX_PARAMETER)
    iss: str | None = Field(default=None, max_length=MAX_PARAMETER)
    error: str | None = Field(default=None, max_length=MAX_PARAMETER)


@router.post("/servers/{name}/login", responses=errors(404, 409))
async def start_login(request: Request, chat: ChatState, name: ServerName) -> LoginStart:
    """Start a login at a server; the user continues at the URL in the response."""
    base = base_url(request.scope)
    url = await chat.agents.toolbox.start_login(name, base + CALLBACK, base + CLIENT_DOCUMENT)
    return LoginStart(url=url)


@router.delete("/servers/{name}/login", status_code=204, responses=errors(404))
async def log_out(chat: ChatState, name: ServerName) -> None:
    """Disconnect the current user from a server and delete the tokens."""
    await chat.agents.toolbox.log_out(name)


@router.get("/oauth/callback", status_code=303, response_class=RedirectResponse, responses=errors())
async def callback(
    state: Parameter = None, code: Parameter = None, iss: Parameter = None, error: Parameter = None
) -> RedirectResponse:
    """Leads from the provider back to the page. Relative, so that a proxy can serve Chie under any path."""
    given = {"state": state, "code": code, "iss": iss, "error": error}
    query = urlencode({name: value for name, value in given.items() if value})
    return RedirectResponse(f"../../../#/servers/login?{query}", status_code=303)


@router.post("/oauth/finish", responses=errors(404, 409))
async def finish_login(body: LoginEnd, chat: ChatState) -> ServerState:
    """Finish the login that the current user started, and connect the server."""
    toolbox = chat.agents.toolbox
    if body.code is None:
        await toolbox.logins.take(body.state)
        raise ConflictError("toolbox.login_refused", error=(body.error or "?")[:MAX_REASON])
    connection = await toolbox.finish_login(body.state, body.code, body.iss)
    return ServerState.model_validate(await chat.agents.reconnect_server(connection.name))


@router.get("/oauth/client.json", responses=errors())
async def client_metadata(request: Request) -> dict[str, Any]:
    """Our client id metadata document, which providers read in place of a registration."""
    from chie.chat.toolbox.oauth import client_document

    base = base_url(request.scope)
    return {"client_id": base + CLIENT_DOCUMENT, "client_uri": base, **client_document(base + CALLBACK)}
