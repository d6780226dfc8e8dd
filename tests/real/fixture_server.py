"""A server on our kit with every tool, resource and prompt that the conformance suite asks for.

Our own servers have none of these, so the suite can say little about them. Here it tests `mcp_kit` itself.
"""

import sys
from typing import Any

import anyio
import click
from fastmcp import Context
from fastmcp.exceptions import ToolError
from fastmcp.tools import ToolResult
from mcp_types import (
    AudioContent,
    CompletionArgument,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    SamplingMessage,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
    UnsubscribeRequestParams,
)
from tests.real.fixture_inputs import declare_inputs
from tests.real.fixture_prompts import declare_prompts

from chie.http.server import run_http
from chie.mcp_kit.server import Server

READ = ToolAnnotations(read_only_hint=True)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="
IMAGE = ImageContent(type="image", data=PIXEL, mime_type="image/png")
STEPS = ("Tool execution started", "Tool processing data", "Tool execution completed")
PAUSE = 0.05  # the suite asks for it: messages that come together could as well have been sent at the end
NAME = {"name": {"type": "string", "default": "John Doe"}}
DEFAULTS: dict[str, Any] = NAME | {
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
_TITLED = [{"const": f"value{number}", "title": f"{word} Option"} for number, word in enumerate(("First", "Second"), 1)]
ENUMS: dict[str, Any] = {
    "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
    "titledSingle": {"type": "string", "oneOf": _TITLED},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
    "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
}


def create_server() -> Server:
    server = Server("fixture", "For the conformance suite.", check=dict, close=lambda: None, reports_progress=True)
    _declare_contents(server)
    _declare_notifications(server)
    _declare_questions(server)
    _declare_resources(server)
    declare_prompts(server, IMAGE)
    declare_inputs(server)
    return server


def _declare_contents(server: Server) -> None:
    @server.declare(READ)
    def test_simple_text() -> ToolResult:
        """Text."""
        return said("This is a simple text response for testing.")

    @server.declare(READ)
    def test_image_content() -> ToolResult:
        """An image."""
        return ToolResult(content=[IMAGE])

    @server.declare(READ)
    def test_audio_content() -> ToolResult:
        """A sound."""
        return ToolResult(content=[AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")])

    @server.declare(READ)
    def test_embedded_resource() -> ToolResult:
        """A resource."""
        return ToolResult(content=[embedded("test://embedded-resource", "This is an embedded resource content.")])

    @server.declare(READ)
    def test_multiple_content_types() -> ToolResult:
        """All kinds at once."""
        data = embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
        text = TextContent(type="text", text="Multiple content types test:")
        return ToolResult(content=[text, IMAGE, data])

    @server.declare(READ)
    def test_error_handling() -> ToolResult:
        """Fails."""
        raise ToolError("This tool intentionally returns an error for testing")


def _declare_notifications(server: Server) -> None:
    @server.declare(READ)
    async def test_tool_with_logging(context: Context) -> ToolResult:
        """Logs while it works."""
        return await logged(context)

    @server.declare(READ)
    async def test_logging_tool(context: Context) -> ToolResult:
        """The same under another name, which the newer revision uses."""
        return await logged(context)

    @server.declare(READ)
    async def test_tool_with_progress(context: Context) -> ToolResult:
        """Says how far it is."""
        for done in (0, 50, 100):
            await context.report_progress(done, 100)
            await anyio.sleep(PAUSE)
        return said("finished")


def _declare_questions(server: Server) -> None:
    @server.declare(READ)
    async def test_sampling(prompt: str, context: Context) -> ToolResult:
        """Asks the client's model."""
        asked = [SamplingMessage(role="user", content=TextContent(type="text", text=prompt))]
        answer = await context.session.create_message(asked, max_tokens=100, related_request_id=context.request_id)
        return said(f"LLM response: {getattr(answer.content, 'text', '')}")

    @server.declare(READ)
    async def test_elicitation(message: str, context: Context) -> ToolResult:
        """Asks the person."""
        fields = {"username": {"type": "string"}, "email": {"type": "string"}}
        return said(f"User response: {await elicit(context, message, fields)}")

    @server.declare(READ)
    async def test_elicitation_sep1034_defaults(context: Context) -> ToolResult:
        """Asks with defaults."""
        return said(f"Elicitation completed: {await elicit(context, 'Check these', DEFAULTS)}")

    @server.declare(READ)
    async def test_elicitation_sep1330_enums(context: Context) -> ToolResult:
        """Asks for choices."""
        return said(f"Elicitation completed: {await elicit(context, 'Choose', ENUMS)}")


def _declare_resources(server: Server) -> None:
    @server.resource("test://static-text", description="Text.", mime_type="text/plain")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", description="An image.", mime_type="image/png")
    def static_binary() -> bytes:
        from base64 import b64decode

        return b64decode(PIXEL)

    @server.resource("test://watched-resource", description="One that changes.", mime_type="text/plain")
    def watched() -> str:
        return "Watched."

    @server.resource("test://template/{id}/data", description="By id.", mime_type="application/json")
    def by_id(id: str) -> dict[str, Any]:  # noqa: A002
        return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}

    @server.completion
    def complete(_: object, argument: CompletionArgument, __: object) -> list[str]:
        return [word for word in ("paris", "park", "party") if word.startswith(argument.value)]

    _accept_subscriptions(server)


def _accept_subscriptions(server: Server) -> None:
    """FastMCP has none, because they need a session; the SDK beneath it takes handlers."""
    watched: set[str] = set()

    async def subscribe(_: object, params: SubscribeRequestParams) -> EmptyResult:
        watched.add(params.uri)
        return EmptyResult()

    async def unsubscribe(_: object, params: UnsubscribeRequestParams) -> EmptyResult:
        watched.discard(params.uri)
        return EmptyResult()

    low = server._mcp_server
    low.add_request_handler("resources/subscribe", SubscribeRequestParams, subscribe)
    low.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, unsubscribe)


async def logged(context: Context) -> ToolResult:
    for step in STEPS:
        await context.session.send_log_message("info", step, related_request_id=context.request_id)
        await anyio.sleep(PAUSE)
    return said("logged")


def said(text: str) -> ToolResult:
    return ToolResult(content=[TextContent(type="text", text=text)])


def embedded(uri: str, text: str, mime_type: str = "text/plain") -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return EmbeddedResource(type="resource", resource=contents)


async def elicit(context: Context, message: str, fields: dict[str, Any]) -> str:
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    answer = await context.session.elicit_form(message, schema, related_request_id=context.request_id)
    return f"action={answer.action}, content={answer.content}"


@click.command()
@click.option("--port", default=0)
def main(port: int) -> None:
    """With sessions, because questions to a client of the older era need one."""
    app = create_server().http_app(path="/mcp", host_origin_protection="auto")
    run_http(app, host="127.0.0.1", port=port, announce=lambda address: print(f"{address}/mcp", flush=True))  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
