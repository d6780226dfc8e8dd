"""Who an MCP request comes from: over HTTP whom the door let in, within the house whom the chat speaks for."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_urlsafe
from typing import Any

from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult
from mcp_types import CallToolRequestParams, TextContent

from chie.access.audit import record
from chie.access.identity import NOBODY, User, become, current_user, local_user
from chie.access.middleware import user_in

TICKET = "chie/ticket"  # where a call within the process carries it, in its `_meta`
LONGEST_ID = 200

_lent: dict[str, User] = {}


@contextmanager
def lent_identity() -> Iterator[dict[str, str]]:
    """For one call to a room of this process: something that leads to the caller, and that nobody can guess."""
    ticket = token_urlsafe(32)
    _lent[ticket] = current_user()
    try:
        yield {TICKET: ticket}
    finally:
        del _lent[ticket]


class Identity(Middleware):
    """What a request over HTTP says in its `_meta` is never looked at."""

    async def on_request(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:  # noqa: ANN401
        request = context.fastmcp_context.request_context if context.fastmcp_context else None
        become(_user(request))
        return await call_next(context)


def _user(request: Any) -> User:  # noqa: ANN401 - FastMCP's, which has no public name
    if request is None:
        return local_user()
    if request.request is None:
        ticket = (request.meta or {}).get(TICKET)
        return local_user() if ticket is None else _lent.get(str(ticket), NOBODY)
    return user_in(request.request.scope) or NOBODY


class Audit(Middleware):
    """Notes every call of a tool that is not known to only read: its name and the id it was about."""

    def __init__(self, room: str) -> None:
        self._room = room

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        result = await call_next(context)
        server = context.fastmcp_context.fastmcp if context.fastmcp_context else None
        tool = await server.get_tool(context.message.name) if server else None
        if tool is not None and not (tool.annotations and tool.annotations.read_only_hint):
            thing = _thing(context.message.arguments or {}) or _thing(_first_object(result))
            record(f"{self._room}.{tool.name}", thing, outcome="failed" if result.is_error else "done")
        return result


def _thing(fields: dict[str, Any]) -> str | None:
    found = fields.get("id") or fields.get("backup")
    return found[:LONGEST_ID] if isinstance(found, str) else None


def _first_object(result: ToolResult) -> dict[str, Any]:
    """What was made tells its id in the answer alone."""
    text = result.content[0].text if result.content and isinstance(result.content[0], TextContent) else ""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
