"""The user of an MCP request: over HTTP the authenticated one, within the process the one the chat acts for."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_urlsafe
from typing import Any

from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult
from mcp_types import CallToolRequestParams, TextContent

from chie.access.audit import record
from chie.access.identity import UNAUTHENTICATED, User, become, current_user, local_user, user_in

TICKET_META = "chie/ticket"  # the key of the ticket in the `_meta` of a call within the process
MAX_ID_LENGTH = 200

_tickets: dict[str, User] = {}


@contextmanager
def user_ticket() -> Iterator[dict[str, str]]:
    """`_meta` for one call to a server in this process: an unguessable ticket for the current user."""
    ticket = token_urlsafe(32)
    _tickets[ticket] = current_user()
    try:
        yield {TICKET_META: ticket}
    finally:
        del _tickets[ticket]


class UserMiddleware(Middleware):
    """Sets the current user. Tickets are ignored in requests over HTTP, whose user was authenticated before."""

    async def on_request(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:  # noqa: ANN401
        request = context.fastmcp_context.request_context if context.fastmcp_context else None
        become(_user(request))
        return await call_next(context)


def _user(request: Any) -> User:  # noqa: ANN401 - FastMCP's, which has no public name
    if request is None:
        return local_user()
    if request.request is None:
        ticket = (request.meta or {}).get(TICKET_META)
        return local_user() if ticket is None else _tickets.get(str(ticket), UNAUTHENTICATED)
    return user_in(request.request.scope) or UNAUTHENTICATED


class AuditMiddleware(Middleware):
    """Records every call of a tool that is not declared read-only: its name, and the id of what it changed."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._read_only: set[str] = set()  # looking a tool up again would take as long as an empty call

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        result = await call_next(context)
        if context.message.name in self._read_only:
            return result
        server = context.fastmcp_context.fastmcp if context.fastmcp_context else None
        tool = await server.get_tool(context.message.name) if server else None
        if tool is not None and tool.annotations and tool.annotations.read_only_hint:
            self._read_only.add(tool.name)
        elif tool is not None:
            thing = _thing(context.message.arguments or {}) or _thing(_first_object(result))
            record(f"{self._server}.{tool.name}", thing, outcome="failed" if result.is_error else "done")
        return result


def _thing(fields: dict[str, Any]) -> str | None:
    found = fields.get("id") or fields.get("backup")
    return found[:MAX_ID_LENGTH] if isinstance(found, str) else None


def _first_object(result: ToolResult) -> dict[str, Any]:
    """A created thing has its id only in the result."""
    text = result.content[0].text if result.content and isinstance(result.content[0], TextContent) else ""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
