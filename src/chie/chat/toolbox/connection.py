"""A supervised connection to one server. One task opens and closes it; other tasks only call through it."""

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context
from typing import TYPE_CHECKING, Any, cast

import mcp_types
from anyio import BrokenResourceError, ClosedResourceError
from httpx2 import HTTPError
from mcp import MCPError
from mcp.client.subscriptions import SubscriptionLost
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from chie import background
from chie.chat.interaction import current_call
from chie.chat.toolbox.errors import FAILURES, ConnectionLostError, InvalidResultError
from chie.chat.toolbox.hint_pins import HintPins
from chie.chat.toolbox.message_limits import MAX_MESSAGE_BYTES, TOO_LARGE, UNREADABLE_CODES
from chie.chat.toolbox.server_requests import ServerRequests
from chie.chat.toolbox.tool import ServerState, State, Tool
from chie.chat.toolbox.views import View, read_view
from chie.errors import NotFoundError
from chie.logging import REQUEST_META, request_id
from chie.mcp_kit.approval import UNLISTED_TOOLS
from chie.messages.catalogue import Message

if TYPE_CHECKING:
    from chie.chat.toolbox.client import Client
    from chie.chat.toolbox.transport import Transport

logger = logging.getLogger(__name__)

CHECK_INTERVAL_SECONDS = 20.0  # for servers that send no notification when their tools change or that die silently
LIST_TIMEOUT_SECONDS = 20.0
MAX_BACKOFF_SECONDS = 60.0
STOP_TIMEOUT_SECONDS = 5.0
MAX_CALLER_WAIT_SECONDS = 2.0  # callers wait for a reconnection only if the pause before it is shorter than this
STABLE_SECONDS = 60.0  # a connection that fails sooner does not reset the back-off


def back_off() -> Iterator[float]:
    """Zero, then exponentially growing pauses with jitter, so that many clients do not reconnect together."""
    yield 0
    seconds = 1.0
    while True:
        yield seconds * random.uniform(0.8, 1.2)  # noqa: S311
        seconds = min(2 * seconds, MAX_BACKOFF_SECONDS)


class Connection:
    """`timeout` is the time limit of a call; `pauses` are the pauses between attempts to connect, in seconds.

    The hints of a built-in server's tools are our own, so they are not pinned.
    """

    def __init__(
        self,
        name: str,
        transport: "Transport",
        *,
        timeout: float = 60.0,
        pauses: Callable[[], Iterator[float]] = back_off,
        pins: HintPins | None = None,
    ) -> None:
        self.name = name
        self.timeout = timeout
        self.tools: tuple[Tool, ...] = ()
        self._listed: tuple[Tool, ...] = ()  # as the server described them last
        self._transport = transport
        self._pauses = pauses
        self._pins = pins or HintPins(name)
        self._requests = ServerRequests(name)
        self._state: State = "idle"
        self._error: Message | None = None
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._restarting: asyncio.Task[None] | None = None
        self._is_closed = False
        self._pinning = asyncio.Lock()
        self._settled = asyncio.Event()
        self._wake = asyncio.Event()
        self._lost = False
        self._calls = 0
        self._calls_ended = 0

    @property
    def is_builtin(self) -> bool:
        return self._transport.name == "built-in"

    @property
    def state(self) -> ServerState:
        return ServerState(
            name=self.name,
            transport=self._transport.name,
            state=self._state,
            error=self._error,
            tools=self.tools,
        )

    def start(self) -> None:
        """Connect in the background, once. The task outlives the request, so it does not inherit its request id."""
        if self._task is None and not self._is_closed:
            self._task = asyncio.create_task(self._supervise(), name=f"mcp-{self.name}", context=Context())

    async def stop(self) -> None:
        """Cancels repeatedly, because a library in between may swallow a cancellation."""
        while self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task], timeout=STOP_TIMEOUT_SECONDS)
        self._task, self._client = None, None

    def close(self) -> Coroutine[Any, Any, None]:
        """Stop for good, at once: a request that still has this connection must not start it again, nor wait for it."""
        self._is_closed = True
        self._client = None
        self._settled.set()
        return self._end()

    async def _end(self) -> None:
        await self.stop()
        self._settled.set()

    async def restart(self) -> None:
        """Disconnect and connect again at once, skipping the current back-off. It goes on if the caller is cancelled:
        a connection that has only been stopped would never start again."""
        if self._restarting is None or self._restarting.done():
            self._restarting = asyncio.create_task(self._restart(), name=f"restart-{self.name}", context=Context())
        await asyncio.shield(self._restarting)

    async def _restart(self) -> None:
        if not self._is_closed:
            self._client = None
            self._settled.clear()  # calls wait for the new connection
            await self.stop()
            self.start()

    async def accept_changes(self) -> None:
        """Take the tools as they are now for the ones that were approved."""
        async with self._pinning:
            await self._pins.accept(self._listed)
            self.tools = await self._pins.apply(self._listed)

    @property
    def is_settled(self) -> bool:
        return self._settled.is_set()

    async def settle(self, timeout: float) -> None:  # noqa: ASYNC109  the end of the timeout is not an error
        """Wait until the server is known to be connected or down."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._settled.wait()

    async def connected(self) -> "Client":
        """Raises ConnectionLostError if the server is down."""
        await self.settle(self.timeout)
        if self._client is None:
            reason = self._error or Message("toolbox.try_again_soon")
            raise ConnectionLostError("toolbox.server_not_connected", server=self.name, reason=reason)
        return self._client

    @contextmanager
    def request_meta(self) -> Iterator[mcp_types.RequestParamsMeta]:
        """`_meta` of one request for the current user. What the server asks meanwhile reaches no run but its own."""
        with self._busy(), self._requests.during(current_call()), self._transport.identity() as identity:
            yield cast("mcp_types.RequestParamsMeta", {REQUEST_META: request_id(), **identity})

    async def call(self, tool: str, arguments: dict[str, Any]) -> mcp_types.CallToolResult:
        """Raises ConnectionLostError, InvalidResultError, or MCPError if the server rejects the call.

        Cancelling it cancels the tool.
        """
        client = await self.connected()
        try:
            with self.request_meta() as meta:
                meta[mcp_types.LOG_LEVEL_META_KEY] = "info"  # type: ignore[literal-required]
                if self.is_builtin and tool in UNLISTED_TOOLS:
                    return await client.call_unlisted_tool(tool, arguments, meta=meta)
                progress = self._requests.progress_handler(current_call())
                return await client.call_tool(tool, arguments, meta=meta, progress_callback=progress)
        except MCPError as error:
            if error.code == mcp_types.CONNECTION_CLOSED:
                raise self._lose(client) from error
            if error.code == TOO_LARGE:
                limit = MAX_MESSAGE_BYTES // 1024**2
                raise InvalidResultError("toolbox.result_too_large", tool=tool, limit=limit) from error
            if error.code in UNREADABLE_CODES:
                raise InvalidResultError("toolbox.result_unreadable", tool=tool) from error
            self._wake.set()  # the server may have lost our session: listing its tools will show
            raise
        except (RuntimeError, ValueError) as error:
            if self._client is not client:
                raise self._lose(client) from error
            raise InvalidResultError("toolbox.result_invalid", tool=tool) from error
        except (OSError, HTTPError, ExceptionGroup, ClosedResourceError, BrokenResourceError) as error:
            raise self._lose(client) from error

    async def view(self, uri: str) -> View:
        """The HTML of a view. Raises NotFoundError, or ConnectionLostError."""
        self.start()
        client = await self.connected()
        try:
            async with asyncio.timeout(self.timeout):
                return await read_view(client, uri)
        except FAILURES as error:
            raise NotFoundError("toolbox.view_not_found") from error

    @contextmanager
    def _busy(self) -> Iterator[None]:
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
            self._calls_ended += 1

    def _lose(self, client: "Client") -> ConnectionLostError:
        if self._client is client:
            self._client = None
            self._settled.clear()
            self._lost = True
            self._wake.set()
        return ConnectionLostError("toolbox.connection_lost", server=self.name)

    async def _supervise(self) -> None:
        self._state = "connecting"
        pauses = self._pauses()
        while True:
            began = asyncio.get_running_loop().time()
            self._state = "connecting"
            try:
                await self._live()
            except Exception as error:  # noqa: BLE001  whatever a foreign server does must not end this process
                self._fail(error)
            if asyncio.get_running_loop().time() - began > STABLE_SECONDS:
                pauses = self._pauses()
            await self._pause(next(pauses))

    async def _pause(self, seconds: float) -> None:
        if seconds > MAX_CALLER_WAIT_SECONDS:
            self._settled.set()
        await asyncio.sleep(seconds)

    def _fail(self, error: BaseException) -> None:
        """A server that was connected is worth waiting for: it is not settled before one more attempt."""
        if self._state == "connected":
            self._settled.clear()
        else:
            self._settled.set()
        self._client = None
        self._state = "failed"
        self._error = self._transport.explain(error)
        logger.warning("server %s: %s (%s)", self.name, self._error, self._error.code)

    async def _live(self) -> None:
        """From connecting to the end of the connection, which is always an exception."""
        async with self._transport.client(self._on_message, self._requests) as client, client:
            await self._list(client)
            self._client, self._state, self._error, self._lost = client, "connected", None, False
            self._settled.set()
            logger.info("server %s: connected, %d tools", self.name, len(self.tools))
            subscription = background.once(self._subscribe(client), f"mcp-{self.name}-changes")
            try:
                await self._watch(client)
            finally:
                subscription.cancel()
                await asyncio.gather(subscription, return_exceptions=True)

    async def _watch(self, client: "Client") -> None:
        while not self._lost:
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_INTERVAL_SECONDS):
                    await self._wake.wait()
            self._wake.clear()
            if not self._lost:
                await self._list(client)
        raise ConnectionLostError("toolbox.server_disconnected", server=self.name)

    async def _list(self, client: "Client") -> None:
        tools = tuple(
            Tool.from_mcp(self.name, tool, builtin=self.is_builtin) for tool in await self._list_tools(client)
        )
        async with self._pinning:
            self._listed = tools
            tools = tools if self.is_builtin else await self._pins.apply(tools)
            if tools != self.tools:
                logger.info("server %s: tools are %s", self.name, ", ".join(tool.original for tool in tools))
            self.tools = tools

    async def _list_tools(self, client: "Client") -> "list[mcp_types.Tool]":
        """A single-threaded server does not respond while a tool runs, so the limit is extended by the calls' own."""
        request = asyncio.create_task(client.list_all_tools())
        now = asyncio.get_running_loop().time
        deadline = now() + self.timeout + LIST_TIMEOUT_SECONDS
        try:
            while True:
                ended = self._calls_ended
                await asyncio.wait({request}, timeout=LIST_TIMEOUT_SECONDS)
                if request.done():
                    return request.result()
                idle = (self._calls, self._calls_ended) == (0, ended)
                if idle or self._lost or now() > deadline:
                    raise TimeoutError
        finally:
            request.cancel()
            await asyncio.gather(request, return_exceptions=True)

    async def _on_message(self, message: "mcp_types.ServerNotification | Exception") -> None:
        """Before protocol 2026-07-28, servers send notifications of changed tools without a subscription."""
        if isinstance(message, mcp_types.ToolListChangedNotification):
            self._wake.set()

    async def _subscribe(self, client: "Client") -> None:
        """Since that protocol, a client must subscribe. The end of a subscription may mean that the server is dead."""
        tools = client.server_capabilities.tools
        if not tools or not tools.list_changed or client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        try:
            with suppress(MCPError, SubscriptionLost, TimeoutError):
                async with client.listen(tools_list_changed=True) as changes:
                    self._wake.set()  # the tools may have changed before the subscription
                    async for _ in changes:
                        self._wake.set()
        finally:
            self._wake.set()


class ClosingConnections:
    """Connections that nobody uses any more. Closing one takes seconds, for which no request waits, and a request that
    is cancelled meanwhile must not leave it half closed."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, connection: Connection) -> None:
        task = asyncio.create_task(connection.close(), name=f"close-{connection.name}", context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def wait(self) -> None:
        await asyncio.gather(*self._tasks)
