"""A request that ends at any moment leaves no server half connected, and nobody waits for a connection that closes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.fakes.cancelled import cancelled_at_each_step
from tests.fakes.workbench import Witness, create_workbench

from chie.chat.toolbox.added_connections import AddedConnections
from chie.chat.toolbox.added_servers import AddedServer, AddedServers, AddedServerSpec
from chie.chat.toolbox.connection import Connection
from chie.chat.toolbox.logins import Login
from chie.chat.toolbox.servers_file import ServerSpec
from chie.chat.toolbox.toolbox import Toolbox
from chie.chat.toolbox.transport import BuiltIn
from chie.chat.toolbox.user_connections import UserConnections
from chie.errors import NotFoundError
from chie.web_fetch.url_policy import UrlPolicy

if TYPE_CHECKING:
    from mcp.client.session import MessageHandlerFnT

    from chie.chat.toolbox.client import Client
    from chie.chat.toolbox.server_requests import ServerRequests

pytestmark = pytest.mark.req("AG-5")

ECHO = ("echo", {"text": "やあ"})
URL = "http://127.0.0.1:9/mcp"


class Stored:
    """The table of added servers, which other processes change too."""

    def __init__(self, *servers: AddedServer) -> None:
        self.servers = list(servers)

    async def list(self) -> list[AddedServer]:
        await asyncio.sleep(0)  # as a database, it does not respond at once
        return list(self.servers)

    async def add(self, server: AddedServer) -> bool:
        raise NotImplementedError

    async def replace(self, server: AddedServer, *, new_secret: bool) -> bool:
        raise NotImplementedError

    async def delete(self, name: str) -> bool:
        raise NotImplementedError


class SlowToClose(BuiltIn):
    """A server that responds late when one disconnects."""

    def __init__(self, responds: asyncio.Event) -> None:
        super().__init__(create_workbench(Witness()))
        self._responds = responds

    @asynccontextmanager
    async def client(self, handler: "MessageHandlerFnT", requests: "ServerRequests") -> "AsyncIterator[Client]":
        async with super().client(handler, requests) as client:
            try:
                yield client
            finally:
                await self._responds.wait()


class Added:
    """A toolbox with the added server `far`; `connected` has the specs to which it was connected."""

    def __init__(self) -> None:
        self.stored = Stored(AddedServer(name="far", url=URL, shown_url=URL))
        self.responds = asyncio.Event()
        self.servers = AddedServers()
        self.servers.use(self.stored)
        self.toolbox = Toolbox([], added=AddedConnections(self.servers, self._connect))

    def _connect(self, name: str, spec: AddedServerSpec) -> Connection:
        del spec
        return Connection(name, SlowToClose(self.responds))

    def change(self) -> None:
        """As an admin does in another process."""
        self.stored.servers = [replace(one, always_ask=not one.always_ask) for one in self.stored.servers]
        self.servers.forget()

    async def works(self) -> bool:
        await self.toolbox.initialize_servers(["far"])
        return (await self.toolbox.call_tool(*ECHO)).content == "echo: やあ"


@asynccontextmanager
async def added() -> AsyncIterator[Added]:
    server = Added()
    try:
        async with server.toolbox:
            assert await server.works()
            yield server
            server.responds.set()
    finally:
        server.responds.set()


async def test_a_changed_server_is_there_wherever_the_request_ended() -> None:
    async with added() as far:
        far.responds.set()

        async def changed() -> None:
            far.change()
            await far.toolbox.refresh()

        async for step in cancelled_at_each_step(changed):
            assert await far.works(), step
            [tool, *_] = far.toolbox.toolset().tools()
            assert tool.always_ask is far.stored.servers[0].always_ask, step


async def test_a_removed_and_added_server_is_there_wherever_the_request_ended() -> None:
    async with added() as far:
        far.responds.set()
        one = far.stored.servers[0]

        async def removed() -> None:
            far.stored.servers = []
            far.servers.forget()
            await far.toolbox.refresh()

        async for step in cancelled_at_each_step(removed):
            await far.toolbox.refresh()
            assert far.toolbox.names == set(), step
            far.stored.servers = [one]
            far.servers.forget()
            assert await far.works(), step


async def test_a_server_that_was_reconnected_works_wherever_the_request_ended() -> None:
    async with added() as far:
        far.responds.set()
        steps = 0
        async for step in cancelled_at_each_step(lambda: far.toolbox.reconnect("far")):
            assert await far.works(), step
            steps += 1
        assert steps


async def test_nobody_waits_while_a_connection_closes() -> None:
    async with added() as far:
        for _ in range(2):
            far.change()
            async with asyncio.timeout(4):  # the server responds never, and Chie gives up after 5 seconds
                await far.toolbox.refresh()
                assert await far.works()
        assert not far.responds.is_set()


async def test_an_answer_learns_at_once_that_its_server_was_removed() -> None:
    async with added() as far:
        toolset = far.toolbox.toolset()
        [tool] = [one for one in toolset.tools() if one.original == "echo"]
        far.responds.set()
        far.stored.servers = []
        far.servers.forget()
        await far.toolbox.refresh()
        async with asyncio.timeout(30):  # not the minute that a call may take
            outcome = await toolset.call(tool, ECHO[1])
        assert outcome.is_error
        with pytest.raises(NotFoundError):
            await far.toolbox.reconnect("far")


async def test_a_server_that_another_process_has_just_added_is_found() -> None:
    async with added() as far:
        await far.toolbox.refresh()  # from now on, what was read counts for a moment
        far.stored.servers.append(AddedServer(name="new", url=URL, shown_url=URL))
        assert (await far.toolbox.reconnect("new")).state == "connected"


class Logins:
    """One login, of every user at every server."""

    async def get(self, user_id: str, server: str) -> str | None:
        del user_id, server
        await asyncio.sleep(0)
        return Login(url=URL, tokens={"access_token": "x", "token_type": "Bearer"}).model_dump_json()

    async def put(self, user_id: str, server: str, text: str, *, state: str | None = None) -> None:
        raise NotImplementedError

    async def take(self, user_id: str, state: str) -> str | None:
        raise NotImplementedError

    async def delete(self, user_id: str, server: str) -> None:
        raise NotImplementedError


async def test_requests_of_a_user_at_the_same_time_share_one_connection() -> None:
    logins = UserConnections({"far": ServerSpec(url=URL)}, 60, None, UrlPolicy())
    logins.use(Logins())
    first, second = await asyncio.gather(logins.open("far"), logins.open("far"))
    assert first is not None
    assert first is second
    logins.know({"near": ServerSpec(url=URL)})
    assert await logins.open("far") is first, "only added servers come and go"
    assert await logins.open("near") is not None
    opening = asyncio.create_task(logins.open("near"))
    await asyncio.sleep(0)
    logins.know({})
    assert await opening is None, "it was removed while its login was read"
    await logins.stop()
