"""How a built-in server tells what a call would do: MCP has no such request.

It responds to calls of `PREVIEW_TOOL`, which it does not list: it reads, as the user who is asked, and changes nothing.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult
from mcp_types import CallToolRequestParams

from chie.errors import ChieError
from chie.mcp_kit.approval import PREVIEW_TOOL, CallPreview

Describe = Callable[[str, Mapping[str, Any]], Awaitable[CallPreview | None]]


class PreviewMiddleware(Middleware):
    """The result is `{"preview": …}`, or null where there is nothing to say."""

    def __init__(self, describe: Describe) -> None:
        self._describe = describe

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        if context.message.name != PREVIEW_TOOL:
            return await call_next(context)
        found = await self._preview(context.message.arguments or {})
        return ToolResult(structured_content={"preview": found.as_json() if found else None})

    async def _preview(self, given: Mapping[str, Any]) -> CallPreview | None:
        tool, arguments = given.get("tool"), given.get("arguments")
        if not isinstance(tool, str) or not isinstance(arguments, dict):
            return None
        try:
            return await self._describe(tool, arguments)
        except ChieError:  # the call itself will report it
            return None
