"""The MCP client of the chat room: several servers at once, none of which can take the chat down."""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

from mcp import MCPError

from chie.chat.toolbox.connection import Connection, ConnectionLostError, StrangeResultError
from chie.chat.toolbox.result_text import to_outcome
from chie.chat.toolbox.tool import Outcome, ServerState, Tool, Toolset
from chie.chat.toolbox.transport import BuiltIn, way_to
from chie.chat.toolbox.wrappers import Distinct, OwnLists
from chie.errors import ConfigurationError, NotFoundError

if TYPE_CHECKING:
    import mcp_types
    from typing_extensions import TypeIs

    from chie.chat.settings import ChatSettings
    from chie.chat.toolbox.servers_file import ServerSpec
    from chie.mcp_kit.server import Server

logger = logging.getLogger(__name__)

SETTLE_SECONDS = 10.0


class Toolbox:
    """Made of servers by name. Nothing is started before `initialize_servers` asks for it; leaving it stops all.

    `closed` are servers that cannot be had, with the reason; `disabled` and `approved` are patterns of tools by server.
    """

    def __init__(
        self,
        connections: Iterable[Connection],
        *,
        closed: Mapping[str, str] | None = None,
        disabled: Mapping[str, Sequence[str]] | None = None,
        approved: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._connections = {connection.name: connection for connection in connections}
        self._closed = dict(closed or {})
        self._disabled = disabled or {}
        self._approved = approved or {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(connection.stop() for connection in self._connections.values()))

    @property
    def names(self) -> set[str]:
        return set(self._connections) | set(self._closed)

    async def initialize_servers(self, server_names: Iterable[str]) -> None:
        """Connect to these, and wait until each is there or known to be away. Asking again costs nothing."""
        wanted = [self._connections[name] for name in server_names if name in self._connections]
        for connection in wanted:
            connection.start()
        await asyncio.gather(*(connection.settle(SETTLE_SECONDS) for connection in wanted))

    async def reconnect(self, name: str) -> ServerState:
        """Leave one server and go back to it at once, whatever it is waiting for."""
        if name not in self._connections:
            raise NotFoundError("no server that can be connected has this name. GET /api/mcp/servers lists them.")
        connection = self._connections[name]
        await connection.restart()
        await connection.settle(SETTLE_SECONDS)
        return connection.state

    def get_tools(self) -> list[dict[str, Any]]:
        """Every tool of the servers asked for so far, in the form of OpenAI's function calling."""
        return [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
            }
            for tool in self.toolset().tools()
        ]

    async def call_tool(self, tool_name: str, arguments: dict[str, Any]) -> Outcome:
        toolset = self.toolset()
        for tool in toolset.tools():
            if tool_name == tool.name:
                return await toolset.call(tool, arguments)
        raise NotFoundError("No connected server has a tool of this name. get_tools lists those there are.")

    def toolset(self, servers: Iterable[str] | None = None) -> Toolset:
        """The tools of these servers, or of all, under distinct names."""
        names = self._connections if servers is None else [name for name in servers if name in self._connections]
        offered = _Offered([self._connections[name] for name in names])
        return Distinct(OwnLists(offered, self._disabled, self._approved))

    def states(self) -> list[ServerState]:
        closed = (
            ServerState(name=name, transport="built-in", state="not_configured", error=reason, tools=())
            for name, reason in self._closed.items()
        )
        return [*(connection.state for connection in self._connections.values()), *closed]


class _Offered(Toolset):
    """The innermost set: what the servers themselves offer."""

    def __init__(self, connections: Sequence[Connection]) -> None:
        self._connections = {connection.name: connection for connection in connections}

    def tools(self) -> Sequence[Tool]:
        """A server that is away keeps its tools: to call one tells the model what is wrong."""
        return [tool for connection in self._connections.values() for tool in connection.tools]

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> Outcome:
        began = perf_counter()
        logger.debug("tool %s of %s is called with %s", tool.original, tool.server, arguments)
        outcome = await self._outcome(self._connections[tool.server], tool, arguments)
        logger.log(
            logging.WARNING if outcome.is_error else logging.INFO,
            "tool %s of %s %s in %d ms",
            tool.original,
            tool.server,
            "failed" if outcome.is_error else "ran",
            1000 * (perf_counter() - began),
        )
        return outcome

    async def _outcome(self, connection: Connection, tool: Tool, arguments: dict[str, Any]) -> Outcome:
        try:
            async with asyncio.timeout(connection.seconds):
                return to_outcome(await self._twice_if_safe(connection, tool, arguments))
        except TimeoutError:
            return _failed(f"{tool.name} gave no answer within {connection.seconds:g} seconds and was stopped.")
        except (ConnectionLostError, StrangeResultError) as error:
            return _failed(error.message)
        except MCPError as error:
            return _failed(f"{tool.name} was refused by its server: {error}")

    async def _twice_if_safe(
        self, connection: Connection, tool: Tool, arguments: dict[str, Any]
    ) -> "mcp_types.CallToolResult":
        """What only reads may be asked again when the server died under it; anything else may have been done."""
        try:
            return await connection.call(tool.original, arguments)
        except ConnectionLostError:
            if not tool.read_only:
                raise
        return await connection.call(tool.original, arguments)


def _failed(reason: str) -> Outcome:
    return Outcome(reason, is_error=True)


def create_toolbox(
    settings: "ChatSettings",
    rooms: "Mapping[str, Server | ConfigurationError]",
    specs: "Mapping[str, ServerSpec]",
) -> Toolbox:
    """The house's own rooms, reached in this process, and the operator's servers, whose names are others."""
    seconds = settings.chie_tool_timeout
    return Toolbox(
        [
            *(Connection(name, BuiltIn(room), seconds=seconds) for name, room in rooms.items() if _is_open(room)),
            *(Connection(name, way_to(spec), seconds=spec.timeout or seconds) for name, spec in specs.items()),
        ],
        closed={name: room.message for name, room in rooms.items() if isinstance(room, ConfigurationError)},
        disabled={name: spec.disabled_tools for name, spec in specs.items()},
        approved={name: spec.approved_tools for name, spec in specs.items()},
    )


def _is_open(room: "Server | ConfigurationError") -> "TypeIs[Server]":
    return not isinstance(room, ConfigurationError)
