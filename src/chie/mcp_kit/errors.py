"""The MCP edge's translator: a failed call is a result with `isError`, a failed read an error; our own words."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from fastmcp.exceptions import FastMCPError, ToolError
from fastmcp.exceptions import ValidationError as ArgumentError
from fastmcp.prompts.base import PromptResult
from fastmcp.resources.base import Resource, ResourceResult
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool, ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    GetPromptRequestParams,
    ListResourcesRequest,
    ListToolsRequest,
    ReadResourceRequestParams,
    TextContent,
)
from pydantic import ValidationError as PydanticError
from pydantic_core import ErrorDetails

from chie.errors import ChieError, NotFoundError, ServiceError, ValidationError
from chie.logging import request_id

logger = logging.getLogger(__name__)

_EXPECTED = {
    "string": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list",
    "dict": "an object",
    "model": "an object",
    "dataclass": "an object",
}
_LIMITS = {
    "greater_than_equal": "at least {ge}",
    "greater_than": "at least {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "at most {lt}",
    "string_too_short": "at least {min_length} long",
    "too_short": "at least {min_length} long",
    "string_too_long": "at most {max_length} long",
    "too_long": "at most {max_length} long",
    "string_unicode": "text of whole characters: it holds half of one (a lone surrogate)",
    "string_pattern_mismatch": "of the form {pattern}",
    "literal_error": "one of {expected}",
    "enum": "one of {expected}",
}


class ErrorTranslator(Middleware):
    """Wraps every call and read; nothing of Pydantic's text, the input or the stack gets past it.

    `fields` are what a room's own errors add to the house's, for those errors that are made here.
    """

    def __init__(self, fields: Mapping[str, Any] | None = None) -> None:
        self._fields = fields

    async def on_list_tools(
        self, context: MiddlewareContext[ListToolsRequest], call_next: CallNext[ListToolsRequest, Sequence[Tool]]
    ) -> Sequence[Tool]:
        return [_admitting_failure(tool) for tool in await call_next(context)]

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        tool = context.message.name
        try:
            return await call_next(await _without_nulls(context))
        except ArgumentError as error:
            return failure(_argument_error(error), self._fields)
        except ToolError as error:
            return failure(_tool_error(tool, error), self._fields)

    async def on_list_resources(
        self,
        context: MiddlewareContext[ListResourcesRequest],
        call_next: CallNext[ListResourcesRequest, Sequence[Resource]],
    ) -> Sequence[Resource]:
        try:
            return await call_next(context)
        except ChieError as error:
            raise MCPError(INTERNAL_ERROR, error.message, error.details()) from error

    async def on_read_resource(
        self,
        context: MiddlewareContext[ReadResourceRequestParams],
        call_next: CallNext[ReadResourceRequestParams, ResourceResult],
    ) -> ResourceResult:
        """The address comes back as `data.uri`, where a client looks for it that asked for several."""
        try:
            return await call_next(context)
        except FastMCPError as error:
            raise _protocol_error("reading this resource", error, uri=str(context.message.uri)) from error

    async def on_get_prompt(
        self,
        context: MiddlewareContext[GetPromptRequestParams],
        call_next: CallNext[GetPromptRequestParams, PromptResult],
    ) -> PromptResult:
        try:
            return await call_next(context)
        except FastMCPError as error:
            raise _protocol_error("this prompt", error) from error


async def _without_nulls(context: MiddlewareContext[CallToolRequestParams]) -> MiddlewareContext[CallToolRequestParams]:
    """Models send null for what they leave out, whether the schema says so or not: it is left out."""
    call, edge = context.message, context.fastmcp_context
    given = call.arguments or {}
    if edge is None or all(value is not None for value in given.values()):
        return context
    tool = await edge.fastmcp.get_tool(call.name)
    if tool is None:
        return context
    optional = tool.parameters.get("properties", {}).keys() - tool.parameters.get("required", ())
    kept = {name: value for name, value in given.items() if value is not None or name not in optional}
    return context.copy(message=call.model_copy(update={"arguments": kept}))


def _protocol_error(what: str, error: FastMCPError, **data: str) -> MCPError:
    """Resources and prompts have no result that says "failed": theirs are JSON-RPC errors."""
    reason = error.__cause__ if isinstance(error.__cause__, ChieError) else unexpected(what)
    code = INVALID_PARAMS if isinstance(reason, NotFoundError | ValidationError) else INTERNAL_ERROR
    return MCPError(code, reason.message, data | reason.details())


def _admitting_failure(tool: Tool) -> Tool:
    """Clients on the TypeScript SDK check a failed call's structured content too, so the schema must allow it."""
    schema = tool.output_schema
    if schema is None or "required" not in schema:
        return tool
    either = {key: value for key, value in schema.items() if key != "required"}
    either["anyOf"] = [{"required": schema["required"]}, {"required": ["error", "error_type", "message"]}]
    return tool.model_copy(update={"output_schema": either})


def failure(error: ChieError, fields: Mapping[str, Any] | None = None) -> ToolResult:
    """The one shape of a failed tool call."""
    return ToolResult(
        content=[TextContent(type="text", text=error.message)],
        structured_content={**(fields or {}), **error.details()},
        is_error=True,
    )


def _tool_error(tool: str, error: ToolError) -> ChieError:
    if isinstance(error.__cause__, ChieError):
        return error.__cause__
    if error.__cause__ is None:  # a ToolError that a tool raised itself: its words are meant for the caller
        return ServiceError(str(error))
    return unexpected(tool)


def unexpected(tool: str) -> ServiceError:
    """What the caller hears of a fault of ours; the log has the rest."""
    return ServiceError(
        f"{tool} failed inside Chie. Try once more; if it fails again, "
        f"the server's log has the reason under request {request_id()}."
    )


def _argument_error(error: ArgumentError) -> ValidationError:
    cause = error.__cause__
    if not isinstance(cause, PydanticError):
        return ValidationError("the arguments do not fit this tool's schema")
    return invalid_arguments(cause)


def invalid_arguments(error: PydanticError) -> ValidationError:
    return ValidationError("; ".join(dict.fromkeys(map(describe, argument_errors(error)))))


def argument_errors(error: PydanticError) -> list[ErrorDetails]:
    return error.errors(include_url=False, include_input=True)


def describe(detail: ErrorDetails) -> str:
    """One argument's fault. Only the schema's words are used: names of fields and its limits."""
    kind, bounds = detail["type"], detail.get("ctx", {})
    name = _field(detail["loc"])
    if kind.startswith(("unexpected", "extra_forbidden")):
        return "unknown argument: look at the tool's schema for the names it takes"
    if kind.startswith("missing") or (detail["input"] is None and len(detail["loc"]) == 1):
        return f"{name} is required"
    return f"{name} must be {_expectation(kind, bounds)}"


def _field(location: tuple[int | str, ...]) -> str:
    """`tags.0` is shown as `tags[0]`; the branches of a union, which the caller never wrote, are left out."""
    head, *rest = location or ("the argument",)
    return str(head) + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in rest if _named(part))


def _named(part: int | str) -> bool:
    return isinstance(part, int) or (part.isidentifier() and part[0].islower() and part not in _EXPECTED | {"str": ""})


def _expectation(kind: str, bounds: dict[str, Any]) -> str:
    if kind in _LIMITS:
        return _LIMITS[kind].format_map(bounds)
    return _EXPECTED.get(kind.split("_", maxsplit=1)[0], "of the type that the tool's schema gives")
