"""The MCP edge's translator: a failed call becomes a result with `isError`, a failed read a JSON-RPC error."""

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

from chie.errors import ChieError, NotFoundError, ServiceError, ValidationError
from chie.logging import request_id
from chie.mcp_kit.calls import without_nulls
from chie.messages.validation import invalid_arguments


class ErrorTranslator(Middleware):
    """Wraps every call and read, so that no text of Pydantic, no input and no stack reaches the client.

    `fields` are defaults for the structured content of errors, for those that a module's own errors add.
    """

    def __init__(self, fields: Mapping[str, Any] | None = None) -> None:
        self._fields = fields

    async def on_list_tools(
        self, context: MiddlewareContext[ListToolsRequest], call_next: CallNext[ListToolsRequest, Sequence[Tool]]
    ) -> Sequence[Tool]:
        return [_with_error_schema(tool) for tool in await call_next(context)]

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
        """The URI is returned as `data.uri`, for clients that read several resources at once."""
        try:
            return await call_next(context)
        except FastMCPError as error:
            raise _protocol_error(unexpected_read(), error, uri=str(context.message.uri)) from error

    async def on_get_prompt(
        self,
        context: MiddlewareContext[GetPromptRequestParams],
        call_next: CallNext[GetPromptRequestParams, PromptResult],
    ) -> PromptResult:
        try:
            return await call_next(context)
        except FastMCPError as error:
            raise _protocol_error(unexpected_prompt(), error) from error


async def _without_nulls(context: MiddlewareContext[CallToolRequestParams]) -> MiddlewareContext[CallToolRequestParams]:
    call, edge = context.message, context.fastmcp_context
    given = call.arguments or {}
    if edge is None or all(value is not None for value in given.values()):
        return context
    tool = await edge.fastmcp.get_tool(call.name)
    if tool is None:
        return context
    return context.copy(message=call.model_copy(update={"arguments": without_nulls(tool, given)}))


def _protocol_error(unexpected: ServiceError, error: FastMCPError, **data: str) -> MCPError:
    """Results of resources and prompts have no error flag, so their errors are JSON-RPC errors."""
    reason = error.__cause__ if isinstance(error.__cause__, ChieError) else unexpected
    code = INVALID_PARAMS if isinstance(reason, NotFoundError | ValidationError) else INTERNAL_ERROR
    return MCPError(code, reason.message, data | reason.details())


def _with_error_schema(tool: Tool) -> Tool:
    """The TypeScript SDK validates the structured content of errors too, so the output schema must allow it."""
    schema = tool.output_schema
    if schema is None or "required" not in schema:
        return tool
    either = {key: value for key, value in schema.items() if key != "required"}
    either["anyOf"] = [{"required": schema["required"]}, {"required": ["error", "error_type", "message"]}]
    return tool.model_copy(update={"output_schema": either})


def failure(error: ChieError, fields: Mapping[str, Any] | None = None) -> ToolResult:
    """The result of every failed tool call."""
    return ToolResult(
        content=[TextContent(type="text", text=error.message)],
        structured_content={**(fields or {}), **error.details()},
        is_error=True,
    )


def _tool_error(tool: str, error: ToolError) -> ChieError:
    if isinstance(error.__cause__, ChieError):
        return error.__cause__
    if error.__cause__ is None:  # raised by the tool itself, with a text for the caller
        return ServiceError("mcp_kit.tool_error", text=str(error))
    return unexpected(tool)


def unexpected(tool: str) -> ServiceError:
    """For exceptions that are bugs: names the request under which the log has the stack."""
    return ServiceError("mcp_kit.tool_failed", tool=tool, request=request_id())


def unexpected_read() -> ServiceError:
    return ServiceError("mcp_kit.resource_failed", request=request_id())


def unexpected_prompt() -> ServiceError:
    return ServiceError("mcp_kit.prompt_failed", request=request_id())


def _argument_error(error: ArgumentError) -> ValidationError:
    cause = error.__cause__
    return invalid_arguments(cause) if isinstance(cause, PydanticError) else ValidationError("argument.schema_mismatch")
