"""A real MCP server process whose tools ask the user: `python -m tests.fakes.asking modern` or `legacy`."""

import sys
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from tests.fakes.peer import READ, without_discover

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Branch / ブランチ", "description": "Where to deploy from", "minLength": 2},
        "count": {"type": "integer", "title": "Replicas", "minimum": 1, "maximum": 9, "default": 2},
        "sure": {"type": "boolean", "title": "Notify the team"},
        "stage": {"type": "string", "title": "Stage", "enum": ["test", "live"], "enumNames": ["Test", "Live"]},
    },
    "required": ["name", "stage"],
}
URL = "https://pay.example.test/authorize?order=7"


class Asking:
    def __init__(self, era: str) -> None:
        self.era = era
        self.server: Server[Any] = Server(
            "asking", on_list_tools=self.list_tools, on_call_tool=self.call_tool, on_get_prompt=self.get_prompt
        )

    async def list_tools(self, _: Any, __: Any) -> types.ListToolsResult:
        names = ["deploy", "pay", "think", "folders", "slow"]
        schema = {"type": "object", "properties": {}}
        tools = [types.Tool(name=name, description=name, input_schema=schema, annotations=READ) for name in names]
        return types.ListToolsResult(tools=tools)

    async def call_tool(self, context: Any, params: types.CallToolRequestParams) -> Any:
        if params.name == "slow":
            await context.session.report_progress(1, 4, "warming up")
            await context.session.send_log_message("info", "ログの一行", related_request_id=context.request_id)
            await context.session.report_progress(4, 4, "done")
            return said("slept")
        asked = request_of(params.name)
        if self.era == "modern":
            given = (params.input_responses or {}).get("it")
            return said(told(given)) if given else types.InputRequiredResult(input_requests={"it": asked})
        return said(told(await self.legacy(context, asked)))

    async def get_prompt(self, context: Any, params: types.GetPromptRequestParams) -> Any:
        asked = request_of(params.name)
        if self.era == "modern" and not params.input_responses:
            return types.InputRequiredResult(input_requests={"it": asked})
        given = (params.input_responses or {}).get("it") or await self.legacy(context, asked)
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=told(given)))
        return types.GetPromptResult(messages=[message])

    async def legacy(self, context: Any, asked: Any) -> Any:
        session, of = context.session, context.request_id
        match asked:
            case types.ElicitRequest(params=types.ElicitRequestFormParams() as form):
                return await session.elicit_form(form.message, form.requested_schema, related_request_id=of)
            case types.ElicitRequest(params=types.ElicitRequestURLParams() as link):
                return await session.elicit_url(link.message, link.url, "e-1", related_request_id=of)
            case types.CreateMessageRequest(params=wanted):
                return await session.create_message(
                    wanted.messages, max_tokens=wanted.max_tokens, related_request_id=of
                )
        return await session.list_roots()

    async def run(self) -> None:
        options = self.server.create_initialization_options(NotificationOptions())
        async with stdio_server() as (reading, writing), anyio.create_task_group() as group:
            source = reading
            if self.era == "legacy":
                sink, source = anyio.create_memory_object_stream[Any](0)
                group.start_soon(without_discover, reading, writing, sink)
            await self.server.run(source, writing, options)
            group.cancel_scope.cancel()


def request_of(tool: str) -> Any:
    match tool:
        case "deploy":
            form = types.ElicitRequestFormParams(message="Deploy what? どれを？", requested_schema=SCHEMA)
            return types.ElicitRequest(method="elicitation/create", params=form)
        case "pay":
            link = types.ElicitRequestURLParams(message="Pay 7 dollars", url=URL, elicitation_id="e-1")
            return types.ElicitRequest(method="elicitation/create", params=link)
        case "think":
            message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="2 + 2 = ?"))
            wanted = types.CreateMessageRequestParams(messages=[message], max_tokens=50)
            return types.CreateMessageRequest(method="sampling/createMessage", params=wanted)
    return types.ListRootsRequest(method="roots/list")


def told(given: Any) -> str:
    match given:
        case types.ElicitResult():
            return f"{given.action}: {sorted((given.content or {}).items())}"
        case types.ListRootsResult():
            return f"roots: {[str(root.uri) for root in given.roots]}"
    return f"model: {given.content.text}"


def said(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


if __name__ == "__main__":
    anyio.run(Asking(sys.argv[1]).run)
