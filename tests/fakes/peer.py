"""A real MCP server process for the handshake era: its tools change when it is told to, and it can die on purpose.

Run as `python -m tests.fakes.peer`; the SDK's own server is used, so what it says is what other people's servers say.
"""

import os
import sys
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

GROWN = False
READ = types.ToolAnnotations(read_only_hint=True)


async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
    names = ["grow", "die", "whoami", "environment", *(["grown"] if GROWN else [])]
    schema = {"type": "object", "properties": {}}
    return types.ListToolsResult(
        tools=[
            types.Tool(name=name, description=f"To {name}.", input_schema=schema, annotations=READ) for name in names
        ]
    )


async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    global GROWN  # noqa: PLW0603
    text = ""
    match params.name:
        case "grow":
            GROWN = True
            await context.session.send_tool_list_changed()
        case "die":
            print("I was told to die; my token=hunter2-hunter2", file=sys.stderr, flush=True)
            os._exit(3)
        case "whoami":
            text = str(os.getpid())
        case "environment":
            text = " ".join(sorted(os.environ))
    return types.CallToolResult(content=[types.TextContent(type="text", text=text or "ok")])


async def main() -> None:
    server = Server("peer", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
