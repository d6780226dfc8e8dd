"""An MCP server with tools that read, add, destroy, fail and hang."""

import asyncio
from dataclasses import dataclass, field

from mcp_types import ToolAnnotations

from chie.errors import NotFoundError
from chie.mcp_kit.server import Server

READ = ToolAnnotations(read_only_hint=True)
ADD = ToolAnnotations(read_only_hint=False, destructive_hint=False)
DESTROY = ToolAnnotations(read_only_hint=False, destructive_hint=True)


@dataclass
class Witness:
    """What happened on the server's side."""

    erased: list[str] = field(default_factory=list)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    meeting: asyncio.Barrier = field(default_factory=lambda: asyncio.Barrier(2))


def create_workbench(witness: Witness, name: str = "workbench") -> Server:
    server = Server(name, "Tools to test with.", check=dict, close=lambda: None)

    @server.tool(annotations=READ)
    def echo(text: str) -> str:
        """Give the text back."""
        return f"echo: {text}"

    @server.tool(annotations=READ)
    async def meet(text: str) -> str:
        """Return once two calls of this run at the same time."""
        await witness.meeting.wait()
        return f"met: {text}"

    @server.tool(annotations=READ)
    def lines(count: int) -> str:
        """Return this many characters."""
        return "x" * count

    @server.tool(annotations=READ)
    def fail() -> str:
        """Fails."""
        raise NotFoundError("toolbox.server_not_found")

    @server.tool(annotations=READ)
    async def hang() -> str:
        """Never returns."""
        witness.started.set()
        try:
            await asyncio.Event().wait()
        finally:
            witness.cancelled.set()
        return "never"

    @server.tool(annotations=DESTROY)
    def erase(what: str) -> str:
        """Destroys something."""
        witness.erased.append(what)
        return f"erased {what}"

    @server.tool
    def unmarked(what: str) -> str:
        """Has no annotations."""
        witness.erased.append(what)
        return f"did {what}"

    @server.tool(annotations=ADD)
    def add(what: str) -> str:
        """Adds something."""
        return f"added {what}"

    return server
