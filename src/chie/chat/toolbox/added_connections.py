"""Connections to the servers that an admin added, kept in step with what is stored."""

import asyncio
import logging
from collections.abc import Callable

from chie.chat.toolbox.added_servers import AddedServers, AddedServerSpec
from chie.chat.toolbox.connection import ClosingConnections, Connection
from chie.errors import ChieError

logger = logging.getLogger(__name__)

Connect = Callable[[str, AddedServerSpec], Connection]


class AddedConnections:
    """`connect` creates a connection that is not started yet. Without it there are none."""

    def __init__(self, servers: AddedServers | None = None, connect: Connect | None = None) -> None:
        self.servers = servers or AddedServers()
        self.specs: dict[str, AddedServerSpec] = {}
        self._connect = connect
        self._refreshing = asyncio.Lock()

    @property
    def asking(self) -> set[str]:
        """Servers whose every call waits for approval."""
        return {name for name, spec in self.specs.items() if spec.always_ask}

    async def refresh(
        self, connections: dict[str, Connection], closing: ClosingConnections, *, anew: bool = False
    ) -> bool:
        """Bring these `connections` up to date; whether anything has changed. A database that fails changes nothing.
        What was read a moment ago counts, unless it must be read `anew`."""
        if self._connect is None:
            return False
        async with self._refreshing:
            if anew:
                self.servers.forget()
            try:
                found = {server.name: server.spec for server in await self.servers.list() if server.is_readable}
            except ChieError as error:
                logger.warning("cannot read the added MCP servers: %s [%s]", error.message, error.code)
                return False
            # Nothing is awaited from here on: a request that is cancelled must not leave half of the change.
            before, self.specs = self.specs, found
            for name in [name for name, spec in before.items() if found.get(name) != spec]:
                closing.add(connections.pop(name))
            new = [name for name, spec in found.items() if before.get(name) != spec]
            connections |= {name: self._connect(name, found[name]) for name in new}
            return before != found
