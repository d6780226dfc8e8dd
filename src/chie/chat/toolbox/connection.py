"""One supervised connection to one server. A single task opens and closes it; others only call through it."""

import asyncio
import logging
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context
from importlib import import_module
from typing import TYPE_CHECKING, Any

import mcp_types
from anyio import BrokenResourceError, ClosedResourceError
from httpx2 import HTTPError
from mcp import MCPError
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from chie.chat.toolbox.tool import ServerState, State, Tool
from chie.errors import ServiceError
from chie.logging import REQUEST_META, request_id

if TYPE_CHECKING:
    from fastmcp import Client

    from chie.chat.toolbox.transport import Way

logger = logging.getLogger(__name__)

CHECK_SECONDS = 20.0  # how often a server that never says when it changes, or dies, is asked
REQUEST_SECONDS = 20.0
LONGEST_WAIT = 60.0
STOP_SECONDS = 5.0
PATIENCE_SECONDS = 2.0  # how long a rest between attempts may be for callers to wait it out
STEADY_SECONDS = 60.0  # a server that dies sooner is flapping, and is waited for longer each time


class ConnectionLostError(ServiceError):
    """The server went away, before or while the tool ran."""


class StrangeResultError(ServiceError):
    """The server is there, but what it answered is not what its own schema, or the protocol, allows."""


def back_off() -> Iterator[float]:
    """At once, then twice as long each time, each a little different so that many do not return together."""
    yield 0
    seconds = 1.0
    while True:
        yield seconds * random.uniform(0.8, 1.2)  # noqa: S311
        seconds = min(2 * seconds, LONGEST_WAIT)


class Connection:
    """`seconds` is how long one of its tools may take; `waits` how long it rests between attempts to connect."""

    def __init__(
        self, name: str, way: "Way", *, seconds: float = 60.0, waits: Callable[[], Iterator[float]] = back_off
    ) -> None:
        self.name = name
        self.seconds = seconds
        self.tools: tuple[Tool, ...] = ()
        self._way = way
        self._waits = waits
        self._state: State = "idle"
        self._error: str | None = None
        self._client: Client[Any] | None = None
        self._task: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._wake = asyncio.Event()
        self._lost = False
        self._calls = 0
        self._calls_ended = 0

    @property
    def state(self) -> ServerState:
        return ServerState(
            name=self.name,
            transport=self._way.transport,
            state=self._state,
            error=self._error,
            tools=self.tools,
        )

    def start(self) -> None:
        """Connect in the background, once; the task belongs to no request, so it carries no request's name."""
        if self._task is None:
            self._task = asyncio.create_task(self._supervise(), name=f"mcp-{self.name}", context=Context())

    async def stop(self) -> None:
        """Asked again if it did not hear: a library in between may have taken the cancellation for its own."""
        while self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task], timeout=STOP_SECONDS)
        self._task = None

    async def restart(self) -> None:
        """Away from the server and to it again, without the rest that the last failures earned."""
        await self.stop()
        self._client = None
        self._settled.clear()
        self.start()

    async def settle(self, seconds: float) -> None:
        """Wait until it is known whether the server is there; a server known to be away is not waited for."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._settled.wait()

    async def call(self, tool: str, arguments: dict[str, Any]) -> mcp_types.CallToolResult:
        """Raises ConnectionLostError or StrangeResultError; MCPError is the server's own refusal.

        Cancelling it cancels the tool.
        """
        await self.settle(self.seconds)
        client = self._client
        if client is None:
            raise ConnectionLostError(f"The server {self.name} is not connected. {self._error or 'Try again soon.'}")
        try:
            with self._busy(), self._way.identity() as identity:
                return await client.call_tool_mcp(tool, arguments, meta={REQUEST_META: request_id(), **identity})
        except MCPError as error:
            if error.code == mcp_types.CONNECTION_CLOSED:
                raise self._lose(client) from error
            self._wake.set()  # a refusal, or a server that has forgotten us: asking for its tools will show
            raise
        except (RuntimeError, ValueError) as error:
            if not client.is_connected():
                raise self._lose(client) from error
            raise StrangeResultError(f"{tool} gave back what its server's schema does not allow.") from error
        except (OSError, HTTPError, ExceptionGroup, ClosedResourceError, BrokenResourceError) as error:
            raise self._lose(client) from error

    @contextmanager
    def _busy(self) -> Iterator[None]:
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
            self._calls_ended += 1

    def _lose(self, client: "Client[Any]") -> ConnectionLostError:
        if self._client is client:
            self._client = None
            self._settled.clear()
            self._lost = True
            self._wake.set()
        return ConnectionLostError(
            f"The server {self.name} went away while the tool ran, which may or may not have done its work. "
            "It is being connected again."
        )

    async def _supervise(self) -> None:
        self._state = "connecting"
        await asyncio.to_thread(import_module, "fastmcp.client")  # a quarter of a second in which others go on
        waits = self._waits()
        while True:
            began = asyncio.get_running_loop().time()
            self._state = "connecting"
            try:
                await self._live()
            except Exception as error:  # noqa: BLE001  the edge to somebody else's process: nothing it does ends ours
                self._fail(error)
            if asyncio.get_running_loop().time() - began > STEADY_SECONDS:
                waits = self._waits()
            await self._rest(next(waits))

    async def _rest(self, seconds: float) -> None:
        if seconds > PATIENCE_SECONDS:
            self._settled.set()
        await asyncio.sleep(seconds)

    def _fail(self, error: BaseException) -> None:
        """One that was there a moment ago is worth waiting for: it is not settled until it was tried again."""
        if self._state == "connected":
            self._settled.clear()
        else:
            self._settled.set()
        self._client = None
        self._state = "failed"
        self._error = self._way.explain(error)
        logger.warning("server %s: %s", self.name, self._error)

    async def _live(self) -> None:
        """From the first greeting to the end, which is always an exception."""
        with self._way.client(self._hear) as client:
            async with client:
                await self._list(client)
                self._client, self._state, self._error, self._lost = client, "connected", None, False
                self._settled.set()
                logger.info("server %s: connected, %d tools", self.name, len(self.tools))
                ear = asyncio.create_task(self._listen(client))
                try:
                    await self._watch(client)
                finally:
                    ear.cancel()
                    await asyncio.gather(ear, return_exceptions=True)

    async def _watch(self, client: "Client[Any]") -> None:
        while not self._lost:
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_SECONDS):
                    await self._wake.wait()
            self._wake.clear()
            if not self._lost:
                await self._list(client)
        raise ConnectionLostError(f"The server {self.name} went away.")

    async def _list(self, client: "Client[Any]") -> None:
        tools = tuple(Tool.from_mcp(self.name, tool) for tool in await self._told_tools(client))
        if tools != self.tools:
            logger.info("server %s: its tools are %s", self.name, ", ".join(tool.original for tool in tools))
        self.tools = tools

    async def _told_tools(self, client: "Client[Any]") -> "list[mcp_types.Tool]":
        """A server that does one thing at a time is silent while it runs a tool, for as long as a tool may take."""
        asked = asyncio.create_task(client.list_tools())
        now = asyncio.get_running_loop().time
        latest = now() + self.seconds + REQUEST_SECONDS
        try:
            while True:
                ended = self._calls_ended
                await asyncio.wait({asked}, timeout=REQUEST_SECONDS)
                if asked.done():
                    return asked.result()
                idle = (self._calls, self._calls_ended) == (0, ended)
                if idle or self._lost or now() > latest:
                    raise TimeoutError
        finally:
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)

    async def _hear(self, message: "mcp_types.ServerNotification | Exception") -> None:
        """Before protocol 2026-07-28, servers say unasked that their tools changed."""
        if isinstance(message, mcp_types.ToolListChangedNotification):
            self._wake.set()

    async def _listen(self, client: "Client[Any]") -> None:
        """Since that protocol, a client must ask to be told; a broken ear may mean a dead server."""
        tools = client.server_capabilities and client.server_capabilities.tools
        if not tools or not tools.list_changed or client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        with suppress(MCPError, SubscriptionLost, TimeoutError):
            async with listen(client.session, tools_list_changed=True) as changes:
                self._wake.set()  # it may have changed before we listened
                async for _ in changes:
                    self._wake.set()
        self._wake.set()
