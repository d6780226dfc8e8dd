"""The MCP client: several servers at once, none of which can take the chat down."""

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

from mcp import MCPError

from chie.chat.interaction import current_call
from chie.chat.toolbox.added_connections import AddedConnections
from chie.chat.toolbox.added_servers import AddedServer, AddedServers
from chie.chat.toolbox.connection import ClosingConnections, Connection
from chie.chat.toolbox.errors import ConnectionLostError, InvalidResultError
from chie.chat.toolbox.hint_pins import FILE_NAME, HintPins
from chie.chat.toolbox.preview import known_preview
from chie.chat.toolbox.result_text import to_outcome
from chie.chat.toolbox.tool import Outcome, ServerState, Tool, Toolset
from chie.chat.toolbox.transport import BuiltIn, create_transport
from chie.chat.toolbox.url_check import CheckedUrls
from chie.chat.toolbox.user_connections import UserConnections
from chie.chat.toolbox.views import View
from chie.chat.toolbox.wrappers import ServerLists, UniqueNames
from chie.errors import ConfigurationError, ConflictError, NotFoundError
from chie.mcp_kit.approval import ARGUMENTS_TOOL, PREVIEW_TOOL
from chie.messages.catalogue import Message
from chie.web_fetch.url_policy import UrlPolicy, load_policy

if TYPE_CHECKING:
    import mcp_types
    from typing_extensions import TypeIs

    from chie.chat.settings import ChatSettings
    from chie.chat.toolbox.servers_file import ServerSpec
    from chie.mcp_kit.server import Server

logger = logging.getLogger(__name__)

SETTLE_TIMEOUT_SECONDS = 10.0


class Toolbox:
    """Servers by name. Nothing is started before `initialize_servers`; leaving the toolbox stops everything.

    `unconfigured` are built-in servers that cannot be used, with the reason. `disabled` and `approved` are patterns of
    tools by server. Every call to the servers in `asking` waits for approval, whatever is approved elsewhere. URLs in
    calls to the operator's servers must pass `policy`; the built-in ones check their own. `unpublished` servers name a
    package that does not exist.
    """

    def __init__(
        self,
        connections: Iterable[Connection],
        *,
        unconfigured: Mapping[str, Message] | None = None,
        disabled: Mapping[str, Sequence[str]] | None = None,
        approved: Mapping[str, Sequence[str]] | None = None,
        asking: Collection[str] = (),
        unpublished: Collection[str] = (),
        policy: UrlPolicy | None = None,
        logins: UserConnections | None = None,
        added: AddedConnections | None = None,
    ) -> None:
        self._connections = {connection.name: connection for connection in connections}
        self._unconfigured = dict(unconfigured or {})
        self._disabled = disabled or {}
        self._approved = approved or {}
        self._asking = asking
        self.unpublished_names = frozenset(unpublished)
        self._policy = policy or UrlPolicy()
        self._closing = ClosingConnections()
        self.logins = logins or UserConnections({}, 0, None, self._policy)
        self._added = added or AddedConnections()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(self.logins.stop(), *(connection.close() for connection in self._connections.values()))
        await self._closing.wait()

    @property
    def added(self) -> AddedServers:
        """The servers that an admin added in the page."""
        return self._added.servers

    @property
    def added_names(self) -> tuple[str, ...]:
        """As of the last `refresh`."""
        return tuple(self._added.specs)

    async def refresh(self, *, anew: bool = False) -> None:
        """Take over what an admin, perhaps in another process, has added, changed or removed."""
        if await self._added.refresh(self._connections, self._closing, anew=anew):
            self.logins.know(self._added.specs)

    async def start_login(self, name: str, redirect_uri: str, metadata_url: str) -> str:
        await self._require(name)
        return await self.logins.start_login(name, redirect_uri, metadata_url)

    async def finish_login(self, state: str, code: str, issuer: str | None) -> Connection:
        name = await self.logins.take(state)
        await self._require(name)
        return await self.logins.finish_login(name, code, issuer)

    async def log_out(self, name: str) -> None:
        await self._require(name)
        await self.logins.log_out(name)

    async def _require(self, name: str) -> Connection:
        """The current user's connection to this server, which an admin may have added a moment ago in another process.
        NotFoundError if there is none."""
        await self.refresh()
        if name not in self._connections:
            await self.refresh(anew=True)
        if (connection := await self._opened(name)) is None:
            raise NotFoundError("toolbox.server_not_found")
        return connection

    async def try_server(self, server: AddedServer) -> ServerState:
        """The state of a server after one attempt to connect; nothing is kept."""
        connection = Connection(server.name, create_transport(server.spec, self._policy))
        connection.start()
        try:
            await connection.settle(SETTLE_TIMEOUT_SECONDS)
            return connection.state
        finally:
            self._closing.add(connection)

    @property
    def names(self) -> set[str]:
        return set(self._connections) | set(self._unconfigured)

    @property
    def listed_names(self) -> set[str]:
        """The operator's servers."""
        return {name for name, connection in self._connections.items() if not connection.is_builtin}

    async def initialize_servers(self, server_names: Iterable[str]) -> None:
        """Connect to these servers and wait until each is connected or known to be down. Idempotent."""
        await self.connections(server_names)

    def start_builtin(self, server_names: Iterable[str]) -> None:
        """Connect to those of these servers that run in this process. Nothing waits for it."""
        for connection in map(self._connections.get, server_names):
            if connection is not None and connection.is_builtin:
                connection.start()

    async def connections(self, server_names: Iterable[str]) -> list[Connection]:
        """The current user's connections to these servers, started; those that cannot be connected too."""
        await self.refresh()
        opened = [await self._opened(name) for name in server_names]
        connections = [connection for connection in opened if connection is not None]
        for connection in connections:
            connection.start()
        # Nothing is awaited for servers that are connected, so that the model is asked before anything else runs.
        if waiting := [connection for connection in connections if not connection.is_settled]:
            await asyncio.gather(*(connection.settle(_settle_seconds(connection)) for connection in waiting))
        return connections

    async def connection(self, name: str) -> Connection:
        """As `connections`. NotFoundError if there is no such server."""
        await self._require(name)
        for connection in await self.connections([name]):
            return connection
        raise NotFoundError("toolbox.server_not_found")  # an admin has removed it meanwhile

    async def reconnect(self, name: str) -> ServerState:
        """Disconnect one server and connect to it again at once, whatever its back-off."""
        connection = await self._require(name)
        await connection.restart()
        await connection.settle(SETTLE_TIMEOUT_SECONDS)
        return connection.state

    async def accept_changes(self, name: str) -> ServerState:
        """Approvals of this server's tools count again, for the tools as they are now."""
        connection = await self._require(name)
        await connection.accept_changes()
        return connection.state

    async def view(self, name: str, uri: str) -> View:
        """A view of this server, as the current user is connected to it."""
        return await (await self._require(name)).view(uri)

    async def call_from_view(self, name: str, tool_name: str, arguments: dict[str, Any], *, approved: bool) -> Outcome:
        """A view calls a tool of its own server. ConflictError if the user must approve the call first."""
        await self._require(name)
        await self.initialize_servers([name])
        toolset = self.toolset([name])
        tool = next((one for one in toolset.tools() if one.original == tool_name and one.for_view), None)
        if tool is None:
            raise NotFoundError("toolbox.tool_not_found")
        found = await toolset.normalized(tool, arguments)
        if isinstance(found, Outcome):
            return found
        if tool.needs_approval(found) and not approved:
            raise ConflictError("toolbox.view_call_needs_approval", tool=tool.original)
        return await toolset.call(tool, found)

    def _connection(self, name: str) -> Connection:
        return self.logins.find(name) or self._connections[name]

    async def _opened(self, name: str) -> Connection | None:
        """The current user's own connection, if there is a login, otherwise the one that everybody shares."""
        return await self.logins.open(name) or self._connections.get(name)

    def get_tools(self) -> list[dict[str, Any]]:
        """The tools of all servers initialized so far, in the format of OpenAI's function calling."""
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
        raise NotFoundError("toolbox.tool_not_found")

    def toolset(self, servers: Iterable[str] | None = None) -> Toolset:
        """The tools of these servers, or of all, under unique names."""
        names = self._connections if servers is None else [name for name in servers if name in self._connections]
        every = _ServerTools([self._connection(name) for name in names])
        offered = CheckedUrls(every, self._policy, self.listed_names)
        return UniqueNames(ServerLists(offered, self._disabled, self._approved, {*self._asking, *self._added.asking}))

    def states(self) -> list[ServerState]:
        unconfigured = (
            ServerState(name=name, transport="built-in", state="not_configured", error=reason, tools=())
            for name, reason in self._unconfigured.items()
        )
        return [*(self._connection(name).state for name in self._connections), *unconfigured]


class _ServerTools(Toolset):
    """The innermost toolset: all tools of the servers."""

    def __init__(self, connections: Sequence[Connection]) -> None:
        self._connections = {connection.name: connection for connection in connections}

    def tools(self) -> Sequence[Tool]:
        """A server that is down keeps its tools; calling one tells the model what is wrong."""
        return [tool for connection in self._connections.values() for tool in connection.tools]

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> Outcome:
        began = perf_counter()
        logger.debug("calling tool %s of %s with %s", tool.original, tool.server, arguments)
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

    async def normalized(self, tool: Tool, arguments: dict[str, Any]) -> dict[str, Any] | Outcome:
        """A call that only reads is never judged."""
        if tool.read_only or not (connection := self._connections[tool.server]).is_builtin:
            return arguments
        asking = replace(tool, original=ARGUMENTS_TOOL, read_only=True)
        outcome = await self._outcome(connection, asking, {"tool": tool.original, "arguments": arguments})
        if outcome.is_error:
            return outcome
        if outcome.structured is None:  # a text in the arguments was read as JSON that is nested too deeply
            return Outcome.failed(Message("agents.arguments_invalid"))
        found: dict[str, Any] = outcome.structured["arguments"]
        return found

    async def preview(self, tool: Tool, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """Only of built-in servers: others could describe their calls as harmless."""
        connection = self._connections[tool.server]
        if not connection.is_builtin:
            return None
        try:
            result = await connection.call(PREVIEW_TOOL, {"tool": tool.original, "arguments": arguments})
        except (ConnectionLostError, InvalidResultError, MCPError):
            return None
        return known_preview(result.structured_content)

    async def _outcome(self, connection: Connection, tool: Tool, arguments: dict[str, Any]) -> Outcome:
        try:
            async with asyncio.timeout(connection.timeout) as limit:
                if running := current_call():
                    running.limit, running.seconds = limit, connection.timeout
                result = await self._call_with_retry(connection, tool, arguments)
        except TimeoutError:
            seconds = f"{connection.timeout:g}"
            return Outcome.failed(Message("toolbox.call_timed_out", tool=tool.name, seconds=seconds))
        except (ConnectionLostError, InvalidResultError) as error:
            return Outcome.failed(error.reason)
        except MCPError as error:
            return Outcome.failed(Message("toolbox.call_rejected", tool=tool.name, error=str(error)))
        return to_outcome(result, builtin=connection.is_builtin)

    async def _call_with_retry(
        self, connection: Connection, tool: Tool, arguments: dict[str, Any]
    ) -> "mcp_types.CallToolResult":
        """A read-only tool is called again if the server died; any other may have done its work already."""
        try:
            return await connection.call(tool.original, arguments)
        except ConnectionLostError:
            if not tool.read_only:
                raise
        return await connection.call(tool.original, arguments)


def create_toolbox(
    settings: "ChatSettings",
    builtin: "Mapping[str, Server | ConfigurationError]",
    specs: "Mapping[str, ServerSpec]",
    reserved: Collection[str] = (),
) -> Toolbox:
    """Of the built-in servers, reached in this process, and the operator's, whose names must be different.

    Servers that an admin adds in the page take no name of these, and none of the `reserved` ones.
    """
    timeout, policy = settings.chie_tool_timeout, load_policy()
    pins = settings.home.expanduser() / FILE_NAME

    def connect(name: str, spec: "ServerSpec") -> Connection:
        own = spec.timeout or timeout
        return Connection(name, create_transport(spec, policy), timeout=own, pins=HintPins(name, spec, pins))

    return Toolbox(
        [
            *(Connection(name, BuiltIn(server), timeout=timeout) for name, server in builtin.items() if _is_ok(server)),
            *(connect(name, spec) for name, spec in specs.items()),
        ],
        unconfigured={name: error.reason for name, error in builtin.items() if isinstance(error, ConfigurationError)},
        disabled={name: spec.disabled_tools for name, spec in specs.items()},
        approved={name: spec.approved_tools for name, spec in specs.items()},
        asking={name for name, spec in specs.items() if spec.always_ask},
        unpublished=[name for name, spec in specs.items() if spec.is_unpublished],
        policy=policy,
        logins=UserConnections(specs, timeout, pins, policy),
        added=AddedConnections(AddedServers({*builtin, *specs, *reserved}), connect),
    )


def _settle_seconds(connection: Connection) -> float:
    """A built-in server is in this process and does connect, on a busy machine late. Without its tools a model would
    invent what is in the notes."""
    return connection.timeout if connection.is_builtin else SETTLE_TIMEOUT_SECONDS


def _is_ok(server: "Server | ConfigurationError") -> "TypeIs[Server]":
    return not isinstance(server, ConfigurationError)
