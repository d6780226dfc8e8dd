"""The toolbox with a server from the npm registry that was written by others, for another runtime and era."""

import os
import signal
from pathlib import Path

import pytest
from tests.real.clients import BIN

from chie.chat.toolbox.connection import Connection
from chie.chat.toolbox.servers_file import ServerSpec
from chie.chat.toolbox.toolbox import Toolbox
from chie.chat.toolbox.transport import create_transport

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]


@pytest.mark.req("CH-7")
async def test_server_everything_is_used_killed_and_used_again() -> None:
    spec = ServerSpec(command=str(BIN / "node"), args=(str(BIN / "mcp-server-everything"), "stdio"))
    async with Toolbox([Connection("everything", create_transport(spec), timeout=60)]) as toolbox:
        await toolbox.initialize_servers(["everything"])
        [state] = toolbox.states()
        assert (state.state, state.error) == ("connected", None)
        assert {"echo", "get-sum"} <= {tool.original for tool in state.tools}
        assert "こだま" in (await toolbox.call_tool("echo", {"message": "こだま"})).content
        assert (await toolbox.call_tool("get-sum", {"a": 2, "b": "x"})).is_error
        image = await toolbox.call_tool("get-tiny-image", {})
        assert "not shown to you" in image.content
        [process] = children()
        os.kill(process, signal.SIGKILL)
        await toolbox.call_tool("echo", {"message": "lost"})
        assert "12" in (await toolbox.call_tool("get-sum", {"a": 5, "b": 7})).content
    assert children() == []


def children() -> list[int]:
    return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
