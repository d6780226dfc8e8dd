"""A session with a program over stdio, with limits on what the program may send."""

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TextIO

from fastmcp.client.transports import ClientTransport
from fastmcp.client.transports.base import TransportOptions
from mcp.client.stdio import StdioServerParameters, stdio_client

from chie.chat.toolbox.message_limits import register_encoding

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp import ClientSession


class BoundedStdio(ClientTransport):
    """FastMCP's own transport does not let us choose the encoding."""

    def __init__(self, command: str, args: list[str], env: dict[str, str], cwd: str | None, stderr: TextIO) -> None:
        self._parameters = StdioServerParameters(
            command=command, args=args, env=env, cwd=cwd, encoding=register_encoding()
        )
        self._stderr = stderr

    @asynccontextmanager
    async def connect_session(
        self,
        *,
        transport_options: TransportOptions | None = None,
        **session_kwargs: Any,  # noqa: ANN401
    ) -> "AsyncIterator[ClientSession]":
        options = transport_options or TransportOptions()
        async with (
            stdio_client(self._parameters, errlog=self._stderr) as (reading, writing),
            options.session_class(reading, writing, **session_kwargs) as session,
        ):
            yield session
