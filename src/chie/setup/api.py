"""/api/setup: what a newcomer's first card shows, and the buttons on it."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from chie.access.middleware import base_url
from chie.connect.mcp_clients import Snippet, snippets
from chie.errors import NotFoundError
from chie.http.openapi_errors import errors
from chie.mcp_kit.server import Server
from chie.settings import load
from chie.setup import endpoints as places
from chie.setup.endpoints import Endpoint, Outcome
from chie.setup.settings import SetupSettings

BEDROCK = "bedrock"

State = Literal["found", "configured", "missing"]


class EndpointState(BaseModel):
    """`configured` is one that was not asked yet: it is elsewhere, and is only asked when somebody presses test."""

    id: str
    name: str
    state: State
    address: str | None
    settings: list[str] = Field(description="The variables that lead to it.")
    models: list[str] = []
    install: str | None = Field(
        default=None, description="The command that brings what an agent needs for it, where that is missing."
    )


class Tool(BaseModel):
    name: str
    description: str
    destructive: bool


class RoomState(BaseModel):
    name: str
    open: bool
    reason: str | None = Field(default=None, description="Why it is closed, and what to set.")
    tools: list[Tool] = []


class Setup(BaseModel):
    endpoints: list[EndpointState]
    rooms: list[RoomState]


class Connections(BaseModel):
    address: str
    hosts: list[Snippet]


def create_setup_api(
    rooms: Mapping[str, Server], closed: Mapping[str, str], *, asks: Callable[[], bool] = lambda: False
) -> APIRouter:
    """`closed` has the reason why a room is; `asks` tells whether the house wants to know who somebody is."""
    router = APIRouter(prefix="/api/setup", tags=["setup"])
    shut = [RoomState(name=name, open=False, reason=reason) for name, reason in closed.items()]

    @router.get("", responses=errors())
    async def show_setup() -> Setup:
        """Which models were found. Only this machine is asked; other places say whether they are configured."""
        settings = load(SetupSettings)
        found = await asyncio.gather(*map(_glance, places.find_endpoints(settings)))
        ready = [await _room(name, server) for name, server in rooms.items()]
        return Setup(endpoints=[*found, _bedrock(settings)], rooms=[*ready, *shut])

    @router.post("/endpoints/{endpoint_id}/test", responses=errors(404))
    async def test_endpoint(endpoint_id: str) -> Outcome:
        """Ask one of the listed endpoints for its models."""
        settings = load(SetupSettings)
        if endpoint_id == BEDROCK:
            return await asyncio.to_thread(places.ask_bedrock, settings)
        for endpoint in places.find_endpoints(settings):
            if endpoint.id == endpoint_id:
                return await endpoint.test()
        raise NotFoundError("no endpoint has this id. GET /api/setup lists those that there are.")

    @router.get("/connect", responses=errors())
    async def show_connections(request: Request) -> Connections:
        """What to write into each assistant's configuration."""
        address = base_url(request.scope)
        return Connections(address=address, hosts=snippets(address, list(rooms), token_required=asks()))

    return router


async def _room(name: str, server: Server) -> RoomState:
    tools = [
        Tool(
            name=tool.name,
            description=tool.description or "",
            destructive=bool(tool.annotations and tool.annotations.destructive_hint),
        )
        for tool in await server.list_tools()
    ]
    return RoomState(name=name, open=True, tools=tools)


async def _glance(endpoint: Endpoint) -> EndpointState:
    state: State = "missing" if endpoint.address is None else "configured"
    models: list[str] = []
    if endpoint.local:
        outcome = await endpoint.test(seconds=places.GLANCE_SECONDS)
        state, models = ("found", outcome.models) if outcome.ok else ("missing", [])
    return EndpointState(
        id=endpoint.id,
        name=endpoint.name,
        state=state,
        address=endpoint.shown if endpoint.address else None,
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
        install=places.AWS_SDK.install,
    )
