"""HTTP API of hooks, mounted under `/hooks`: it takes and answers what Claude Code sends and expects."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Body, Request
from pydantic import BaseModel, Field

from chie.access.proxy import base_url
from chie.http.openapi_errors import errors
from chie.http.routing import Router
from chie.knowledge.recall.hooks import Event, Hooks, Reply


class HookStatus(BaseModel):
    last_call: datetime | None = Field(description="Of your last hook call since the server started.")


def create_hooks_api(hooks: Hooks) -> APIRouter:
    router = Router()

    @router.post("/claude-code", responses=errors())
    def run_hook(
        request: Request,
        body: Annotated[dict[str, Any], Body(description="The JSON of a hook, as Claude Code sends it.")],
    ) -> dict[str, Any]:
        """Notes for the assistant's context, or an empty object. Nothing of the body is stored or logged."""
        event = Event.of(body)
        return _encoded(event, hooks.handle(event, base_url=base_url(request.scope)))

    @router.get("/status", responses=errors())
    def hook_status() -> HookStatus:
        """When your assistant has called last."""
        return HookStatus(last_call=hooks.last_call())

    return router


def _encoded(event: Event, reply: Reply) -> dict[str, Any]:
    encoded: dict[str, Any] = {}
    if reply.context:
        encoded["hookSpecificOutput"] = {"hookEventName": event.name, "additionalContext": reply.context}
    if reply.receipt:
        encoded["systemMessage"] = reply.receipt
    return encoded
