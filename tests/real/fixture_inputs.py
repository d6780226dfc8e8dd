"""Tools and a prompt that need something of the client first, the newer era's way: a result, then a second call."""

from typing import Any

from fastmcp import Context
from fastmcp.tools import ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
    ToolAnnotations,
)

from chie.mcp_kit.server import Server

READ = ToolAnnotations(read_only_hint=True)


def declare_inputs(server: Server) -> None:
    _declare_single(server)
    _declare_with_state(server)
    _declare_by_capability(server)
    _declare_refusals(server)
    _declare_rounds(server)
    _declare_prompt(server)


def _declare_single(server: Server) -> None:
    @server.declare(READ)
    def test_input_required_result_elicitation(context: Context) -> Any:
        """Asks for a name."""
        name = answer(context, "user_name", "name")
        asked = question("What is your name?", name="string")
        return needed(user_name=asked) if name is None else said(f"Hello, {name}!")

    @server.declare(READ)
    def test_input_required_result_sampling(context: Context) -> Any:
        """Asks the client's model."""
        given = given_for(context, "capital_question")
        asked = sampling("What is the capital of France?", 100)
        return needed(capital_question=asked) if given is None else said(str(given))

    @server.declare(READ)
    def test_input_required_result_list_roots(context: Context) -> Any:
        """Asks for the client's folders."""
        given = given_for(context, "client_roots")
        return needed(client_roots=ListRootsRequest(method="roots/list")) if given is None else said(str(given))


def _declare_with_state(server: Server) -> None:
    @server.declare(READ)
    def test_input_required_result_request_state(context: Context) -> Any:
        """Gets its own state back."""
        if given_for(context, "confirm") is None:
            return needed("asked", confirm=question("Please confirm", ok="boolean"))
        return said("state-ok" if context.request_state == "asked" else "state-lost")

    @server.declare(READ)
    def test_input_required_result_tampered_state(context: Context) -> Any:
        """Notices a state that is not its own; the kit's framework refuses it before we are called."""
        if given_for(context, "confirm") is None:
            return needed("sealed", confirm=question("Please confirm", ok="boolean"))
        return said("state-ok")

    @server.declare(READ)
    def test_input_required_result_multiple_inputs(context: Context) -> Any:
        """Asks for three things at once."""
        given = [given_for(context, key) for key in ("user_name", "greeting", "client_roots")]
        if None in given:
            return needed(
                "three",
                user_name=question("What is your name?", name="string"),
                greeting=sampling("Generate a greeting", 50),
                client_roots=ListRootsRequest(method="roots/list"),
            )
        return said(str(given))


def _declare_by_capability(server: Server) -> None:
    @server.declare(READ)
    def test_input_required_result_capabilities(context: Context) -> Any:
        """Asks only for what the client can do."""
        able = context.session.client_capabilities
        if context.input_responses:
            return said("thank you")
        asked: dict[str, InputRequest] = {}
        if able and able.elicitation:
            asked["user_name"] = question("What is your name?", name="string")
        if able and able.sampling:
            asked["greeting"] = sampling("Generate a greeting", 50)
        return InputRequiredResult(input_requests=asked) if asked else said("nothing to ask")


def _declare_refusals(server: Server) -> None:
    @server.declare(READ)
    def test_missing_capability(context: Context) -> Any:
        """Does not work without the client's model."""
        able = context.session.client_capabilities
        if able is None or able.sampling is None:
            lacking: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
            raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "this tool needs the client to offer sampling", lacking)
        return said("it does")

    @server.declare(READ)
    async def test_streaming_elicitation(context: Context) -> Any:
        """Says how far it is, then asks."""
        await context.report_progress(1, 2)
        name = answer(context, "user_name", "name")
        return needed(user_name=question("What is your name?", name="string")) if name is None else said(name)


def _declare_rounds(server: Server) -> None:
    @server.declare(READ)
    def test_input_required_result_multi_round(context: Context) -> Any:
        """Asks twice, the second time knowing the first answer."""
        if context.request_state == "second" and (colour := answer(context, "step2", "color")) is not None:
            return said(f"You like {colour}.")
        if answer(context, "step1", "name") is not None:
            return needed("second", step2=question("Step 2: What is your favorite color?", color="string"))
        return needed("first", step1=question("Step 1: What is your name?", name="string"))


def _declare_prompt(server: Server) -> None:
    @server.prompt(description="Asks for the context it needs.")
    def test_input_required_result_prompt(context: Context) -> Any:
        given = answer(context, "user_context", "context")
        asked = question("What context should the prompt use?", context="string")
        return needed(user_context=asked) if given is None else f"Use this context: {given}"


def needed(state: str | None = None, **requests: InputRequest) -> InputRequiredResult:
    return InputRequiredResult(input_requests=requests, request_state=state)


def question(message: str, **fields: str) -> ElicitRequest:
    properties = {name: {"type": kind} for name, kind in fields.items()}
    schema = {"type": "object", "properties": properties, "required": list(fields)}
    return ElicitRequest(
        method="elicitation/create", params=ElicitRequestFormParams(message=message, requested_schema=schema)
    )


def sampling(text: str, tokens: int) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    return CreateMessageRequest(
        method="sampling/createMessage", params=CreateMessageRequestParams(messages=[message], max_tokens=tokens)
    )


def given_for(context: Context, key: str) -> Any:
    return (context.input_responses or {}).get(key)


def answer(context: Context, key: str, field: str) -> Any:
    """One field of an accepted form; None for anything else, so that it is asked again."""
    content = getattr(given_for(context, key), "content", None)
    return content.get(field) if isinstance(content, dict) else None


def said(text: str) -> ToolResult:
    return ToolResult(content=[TextContent(type="text", text=text)])
