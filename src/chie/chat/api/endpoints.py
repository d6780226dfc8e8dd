"""Model endpoints: those of the environment, and those that an admin adds, tests, changes and removes here."""

from typing import Annotated

from fastapi import Path

from chie.chat.api.admin import Admin, IsAdmin
from chie.chat.api.endpoint_schemas import (
    EndpointEntry,
    EndpointFields,
    Endpoints,
    EndpointTrial,
    NewEndpoint,
    TrialResult,
    environment_entry,
    stored_entry,
)
from chie.chat.api.schemas import MAX_ID
from chie.chat.api.state import Chat, ChatState
from chie.chat.endpoints.endpoint import StoredEndpoint
from chie.chat.endpoints.environment import environment_endpoints
from chie.chat.endpoints.service import drafted
from chie.chat.endpoints.trial import try_endpoint
from chie.errors import ChieError, ValidationError
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/api/endpoints", tags=["endpoints"])

EndpointId = Annotated[str, Path(min_length=1, max_length=MAX_ID)]


@router.get("", responses=errors())
async def list_endpoints(chat: ChatState, admin: IsAdmin) -> Endpoints:
    """List the endpoints that models are chosen from. Keys are never in a response."""
    fixed = [environment_entry(endpoint, admin=admin) for endpoint in environment_endpoints()]
    stored = [stored_entry(endpoint, admin=admin) for endpoint in await chat.endpoints.list()]
    return Endpoints(endpoints=[*fixed, *stored])


@router.post("", status_code=201, responses=errors(403, 409))
async def add_endpoint(body: NewEndpoint, chat: ChatState, admin: Admin) -> EndpointEntry:
    """Add an endpoint, which is used at once. The key is stored encrypted. For admins only."""
    return stored_entry(await chat.endpoints.create(body.kind, body.entered()), admin=admin.admin)


@router.post("/test", responses=errors(403, 404))
async def run_endpoint_test(body: EndpointTrial, chat: ChatState, _: Admin) -> TrialResult:
    """Request the models of an endpoint, stored or not, and say what is wrong if there are none. For admins only."""
    endpoint = await _endpoint_of(body, chat)
    try:
        return TrialResult(ok=True, models=await try_endpoint(endpoint, chat.agents.catalogue))
    except ChieError as error:
        return TrialResult.failed(error.reason)


@router.patch("/{endpoint_id}", responses=errors(403, 404, 409))
async def change_endpoint(
    endpoint_id: EndpointId, body: EndpointFields, chat: ChatState, admin: Admin
) -> EndpointEntry:
    """Change an endpoint. The key stays if none is sent. For admins only."""
    return stored_entry(await chat.endpoints.change(endpoint_id, body.entered()), admin=admin.admin)


@router.delete("/{endpoint_id}", status_code=204, responses=errors(403, 404))
async def remove_endpoint(endpoint_id: EndpointId, chat: ChatState, _: Admin) -> None:
    """Remove an endpoint and its key. For admins only."""
    await chat.endpoints.delete(endpoint_id)


async def _endpoint_of(body: EndpointTrial, chat: Chat) -> StoredEndpoint:
    if body.id is not None:
        return await chat.endpoints.draft_of(body.id, body.entered())
    if body.kind is None:
        raise ValidationError("endpoints.kind_missing")
    return drafted(body.kind, body.entered(), default_name=body.kind)
