"""What a built-in server says about a call before it runs. MCP has no such requests, so they are calls of tools that
the server does not list; they read, as the user who is asked, and change nothing.

`ARGUMENTS_TOOL` returns the arguments as the tool will read them: one spelling of each name, and values of the declared
types. A tool may accept several names and forms (`runForReal`, `"yes"` for true, a list as JSON text), and only its
server knows which. So the chat asks for these arguments, decides about them, shows them and sends exactly them.
`PREVIEW_TOOL` says what the call would do.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, get_type_hints, runtime_checkable
from weakref import WeakKeyDictionary

from fastmcp.exceptions import NotFoundError, ToolError
from fastmcp.exceptions import ValidationError as ArgumentError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import FunctionTool, Tool, ToolResult
from mcp_types import CallToolRequestParams
from pydantic import BaseModel, ConfigDict, create_model
from pydantic import ValidationError as PydanticError

from chie.errors import ChieError
from chie.mcp_kit.approval import ARGUMENTS_TOOL, PREVIEW_TOOL, CallPreview

Describe = Callable[[str, Mapping[str, Any]], Awaitable[CallPreview | None]]

_models: WeakKeyDictionary[Callable[..., Any], type[BaseModel]] = WeakKeyDictionary()


@runtime_checkable
class NormalizingTool(Protocol):
    """A tool that reads its arguments itself."""

    def normalized(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Raises ChieError if the tool would reject them."""


class ArgumentsMiddleware(Middleware):
    """The result is `{"arguments": …}`, or the error with which the tool would reject the call."""

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        if context.message.name != ARGUMENTS_TOOL:
            return await call_next(context)
        tool, arguments = await _called(context)
        if tool is None:
            raise NotFoundError("Unknown tool")
        try:
            return ToolResult(structured_content={"arguments": normalized(tool, arguments)})
        except PydanticError as error:
            raise ArgumentError("the arguments are invalid") from error
        except ChieError as error:
            raise ToolError(error.message) from error


class PreviewMiddleware(Middleware):
    """The result is `{"preview": …}`, or null where there is nothing to say."""

    def __init__(self, describe: Describe) -> None:
        self._describe = describe

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        if context.message.name != PREVIEW_TOOL:
            return await call_next(context)
        found = await self._preview(*await _called(context))
        return ToolResult(structured_content={"preview": found.as_json() if found else None})

    async def _preview(self, tool: Tool | None, arguments: Mapping[str, Any]) -> CallPreview | None:
        try:
            return await self._describe(tool.name, normalized(tool, arguments)) if tool else None
        except (ChieError, PydanticError):  # the call itself will report it
            return None


async def _called(context: MiddlewareContext[CallToolRequestParams]) -> tuple[Tool | None, dict[str, Any]]:
    """The tool and the arguments that a request about a call names."""
    given, edge = context.message.arguments or {}, context.fastmcp_context
    name, arguments = given.get("tool"), given.get("arguments")
    tool = await edge.fastmcp.get_tool(name) if edge is not None and isinstance(name, str) else None
    return tool, arguments if isinstance(arguments, dict) else {}


def normalized(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Raises Pydantic's error or ChieError if the tool would reject them. Normalizing the result changes nothing."""
    given = without_nulls(tool, arguments)
    if isinstance(tool, NormalizingTool):
        return tool.normalized(given)
    if isinstance(tool, FunctionTool):
        return _model(tool.fn).model_validate(given).model_dump(mode="json", by_alias=True, exclude_unset=True)
    return given


def without_nulls(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Without the nulls of optional arguments: models send them for what they leave out, whatever the schema says."""
    optional = tool.parameters.get("properties", {}).keys() - tool.parameters.get("required", ())
    return {name: value for name, value in arguments.items() if value is not None or name not in optional}


def _model(function: Callable[..., Any]) -> type[BaseModel]:
    """The parameters of a tool's function, validated as FastMCP does, which tells nobody what it has understood."""
    if (known := _models.get(function)) is not None:
        return known
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {
        name: (hints[name], ... if one.default is one.empty else one.default)
        for name, one in inspect.signature(function).parameters.items()
    }
    model: type[BaseModel] = create_model("Arguments", __config__=ConfigDict(extra="forbid"), **fields)
    return _models.setdefault(function, model)
