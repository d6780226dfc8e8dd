"""`/api/setup`: the endpoints, servers and client configurations that the setup page shows."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from chie.access.proxy import base_url
from chie.connect.mcp_clients import Snippet, snippets
from chie.errors import NotFoundError, ServiceError
from chie.http.openapi_errors import errors
from chie.http.routing import Router
from chie.mcp_kit.server import Server
from chie.messages.catalogue import Message
from chie.settings import load
from chie.setup import endpoints as known
from chie.setup.endpoints import Endpoint, ProbeResult
from chie.setup.settings import SetupSettings

BEDROCK = "bedrock"

State = Literal["found", "configured", "missing"]


class EndpointState(BaseModel):
    """`configured` endpoints are remote and have not been contacted; the test does that."""

    id: str
    name: str
    name_code: str | None = None
    name_params: dict[str, Any] | None = None
    state: State
    address: str | None
    settings: list[str] = Field(description="The variables that configure it.")
    models: list[str] = []
    install: str | None = Field(
        default=None, description="The command that installs the package an agent needs, if it is missing."
    )


class EndpointTest(BaseModel):
    """The models of an endpoint that works."""

    ok: Literal[True] = True
    models: list[str]


class Tool(BaseModel):
    name: str
    description: str
    destructive: bool


class ServerState(BaseModel):
    name: str
    open: bool
    reason: str | None = Field(default=None, description="Why it is not available, and what to set.")
    reason_code: str | None = None
    reason_params: dict[str, Any] | None = None
    tools: list[Tool] = []


class Setup(BaseModel):
    endpoints: list[EndpointState]
    servers: list[ServerState]


class Connections(BaseModel):
    address: str
    hosts: list[Snippet]


def create_setup_api(
    servers: Mapping[str, Server],
    unavailable: Mapping[str, Message],
    *,
    token_required: Callable[[], bool] = lambda: False,
) -> APIRouter:
    """`unavailable` has the reason for each server that is not running."""
    router = Router(prefix="/api/setup", tags=["setup"])

    @router.get("", responses=errors())
    async def show_setup() -> Setup:
        """List the model endpoints and MCP servers. Only local servers are contacted: on this machine, and where
        `CHIE_MODEL_HOST` says."""
        settings = load(SetupSettings)
        found = await asyncio.gather(*map(_discover, known.find_endpoints(settings)))
        running = [await _running(name, server) for name, server in servers.items()]
        rest = [ServerState(name=name, open=False, **_text("reason", why)) for name, why in unavailable.items()]
        return Setup(endpoints=[*found, _bedrock(settings)], servers=[*running, *rest])

    @router.post("/endpoints/{endpoint_id}/test", responses=errors(404))
    async def test_endpoint(endpoint_id: str) -> EndpointTest:
        """Request the list of models from one of the listed endpoints. One that does not work is a 500."""
        result = await _probe(endpoint_id)
        if result.problem:
            raise ServiceError(result.problem)
        return EndpointTest(models=result.models)

    @router.get("/connect", responses=errors())
    async def show_connections(request: Request) -> Connections:
        """The configuration that connects each MCP client."""
        url = base_url(request.scope)
        return Connections(address=url, hosts=snippets(url, list(servers), token_required=token_required()))

    return router


async def _probe(endpoint_id: str) -> ProbeResult:
    settings = load(SetupSettings)
    if endpoint_id == BEDROCK:
        return await asyncio.to_thread(known.probe_bedrock, settings)
    for endpoint in known.find_endpoints(settings):
        if endpoint.id == endpoint_id:
            return await endpoint.probe()
    raise NotFoundError("setup.endpoint_not_found")


async def _running(name: str, server: Server) -> ServerState:
    tools = [
        Tool(
            name=tool.name,
            description=tool.description or "",
            destructive=bool(tool.annotations and tool.annotations.destructive_hint),
        )
        for tool in await server.list_tools()
    ]
    return ServerState(name=name, open=True, tools=tools)


async def _discover(endpoint: Endpoint) -> EndpointState:
    state: State = "missing" if endpoint.url is None else "configured"
    models: list[str] = []
    if endpoint.is_local or endpoint.looked_for:
        result = await endpoint.probe(timeout_seconds=known.DISCOVERY_TIMEOUT_SECONDS)
        responds = result.ok or result.install is not None  # without the package no agent can use it
        state, models = ("found", result.models) if responds else ("missing", [])
    return EndpointState(
        id=endpoint.id,
        **_text("name", endpoint.name),
        state=state,
        address=endpoint.shown_url if endpoint.url else None,
        settings=list(endpoint.settings),
        models=models,
        install=endpoint.package.install,
    )


def _bedrock(settings: SetupSettings) -> EndpointState:
    return EndpointState(
        id=BEDROCK,
        name="Amazon Bedrock",
        state="configured" if settings.has_aws else "missing",
        address=settings.aws_region,
        settings=["AWS_PROFILE", "AWS_REGION"],
        install=known.AWS_SDK.install,
    )


def _text(field: str, text: str | Message | None) -> dict[str, Any]:
    """A text field with its code and parameters, which are null for a text without a code."""
    if isinstance(text, Message):
        return {field: str(text), f"{field}_code": text.code, f"{field}_params": text.json_params()}
    return {field: text, f"{field}_code": None, f"{field}_params": None}
