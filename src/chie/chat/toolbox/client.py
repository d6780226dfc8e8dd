"""The SDK's MCP client, with a time limit to connect and a strict choice of the protocol."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Self

import mcp
import mcp_types
from mcp_types.methods import validate_server_result
from pydantic import ValidationError

CONNECT_TIMEOUT_SECONDS = 20.0
MAX_PAGES = 250


class Client(mcp.Client):
    async def __aenter__(self) -> Self:
        async with asyncio.timeout(CONNECT_TIMEOUT_SECONDS):
            await super().__aenter__()
        return self

    async def list_all_tools(self) -> list[mcp_types.Tool]:
        """The tools of all pages. A cursor that comes again ends the list."""
        tools: list[mcp_types.Tool] = []
        cursors: set[str | None] = {None}
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if cursor in cursors:
                return tools
            cursors.add(cursor)
        raise RuntimeError(f"more than {MAX_PAGES} pages of tools")

    async def call_unlisted_tool(
        self, name: str, arguments: dict[str, Any], *, meta: mcp_types.RequestParamsMeta
    ) -> mcp_types.CallToolResult:
        """`call_tool` would list the server's tools with every such call, to look for an output schema."""
        params = mcp_types.CallToolRequestParams(name=name, arguments=arguments, _meta=meta)
        return await self.session.send_request(mcp_types.CallToolRequest(params=params), mcp_types.CallToolResult)

    async def _build_session(self, exit_stack: AsyncExitStack) -> mcp.ClientSession:
        """The SDK validates every result except the first, so it would choose a protocol that the server violates."""
        session = await super()._build_session(exit_stack)
        session.send_discover = partial(_discover, session.send_discover)  # type: ignore[method-assign]
        return session


async def _discover(send: Callable[[str], Awaitable[dict[str, Any]]], version: str) -> dict[str, Any]:
    """An MCPError makes the SDK use the older protocol."""
    result = await send(version)
    try:
        validate_server_result("server/discover", version, result)
    except ValidationError as error:
        raise mcp.MCPError(mcp_types.INVALID_PARAMS, "The result of server/discover is invalid.") from error
    return result
