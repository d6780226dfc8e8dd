"""The base classes of the tools: dependencies, name, description, typed arguments, the handler that catches errors."""

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, NotRequired, TypedDict, TypeVar

from mcp_types import ToolAnnotations
from pydantic import ValidationError as PydanticError

from chie.errors import ChieError
from chie.mcp_kit.approval import CallPreview
from chie.messages.catalogue import Message
from chie.n8n.arguments import Arguments, RawArguments, Untitled, compact
from chie.n8n.backups import Backups
from chie.n8n.client import N8nApiClient
from chie.n8n.deletion import WorkflowDeleter
from chie.n8n.errors import name_operation
from chie.n8n.instance.client import InstanceClient
from chie.n8n.models import Json
from chie.n8n.nodes.knowledge import NodeKnowledge
from chie.n8n.nodes.validator import ParameterValidator
from chie.n8n.rehearsal.rehearsal import Rehearsal
from chie.n8n.saving import Report, WorkflowSaver
from chie.n8n.status_errors import OPERATIONS
from chie.n8n.tool_errors import invalid, unexpected
from chie.n8n.truncation import truncate
from chie.n8n.versions import Versions
from chie.n8n.workflow_files import AllowedFolders
from chie.n8n.workflow_summary import report

logger = logging.getLogger(__name__)

A = TypeVar("A", bound=Arguments)
R = TypeVar("R", bound=RawArguments)

READ = ToolAnnotations(read_only_hint=True, open_world_hint=True)
ADD = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True)
CHANGE = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=True)
CHANGE_EACH_TIME = CHANGE.model_copy(update={"idempotent_hint": False})  # a repeated call has its effect again


class Text(TypedDict):
    type: Literal["text"]
    text: str


class ToolResponse(TypedDict):
    content: list[Text]
    isError: NotRequired[bool]
    structuredContent: NotRequired[dict[str, Any]]


@dataclass(frozen=True)
class ToolDefinition:
    name: str
    description: str
    input_schema: dict[str, Any]
    annotations: ToolAnnotations
    handler: Callable[[Mapping[str, Any]], Awaitable[ToolResponse]]
    normalized: Callable[[Mapping[str, Any]], dict[str, Any]]
    view: str | None = None
    destructive_arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class ToolContext:
    """The dependencies of the tools."""

    client: N8nApiClient
    instance: InstanceClient
    knowledge: NodeKnowledge
    validator: ParameterValidator
    rehearsal: Rehearsal
    saver: WorkflowSaver
    deleter: WorkflowDeleter
    backups: Backups
    versions: Versions
    folders: AllowedFolders
    max_chars: int


class BaseTool(ABC, Generic[A]):
    name: ClassVar[str]
    description: ClassVar[str]
    annotations: ClassVar[ToolAnnotations] = READ
    arguments: ClassVar[type[Arguments]]
    destructive_arguments: ClassVar[tuple[str, ...]] = ()  # without them a destructive tool only adds
    needs_token: ClassVar[bool] = False  # of n8n's own MCP server
    view: ClassVar[str | None] = None  # URI of the MCP Apps view that shows the result
    truncation_advice: ClassVar[Message] = Message("n8n.truncation_advice")

    def __init__(self, context: ToolContext) -> None:
        self.context = context

    def get_input_schema(self) -> dict[str, Any]:
        schema = self.arguments.model_json_schema(by_alias=True, schema_generator=Untitled)
        for key in ("title", "description"):  # of the class, for its readers
            schema.pop(key, None)
        shown: dict[str, Any] = compact(schema)
        return shown

    @property
    def operation(self) -> str:
        """The name in the context of errors: `update workflow`."""
        return self.name.replace("_", " ")

    @abstractmethod
    async def execute(self, args: A) -> Any:  # noqa: ANN401
        """Run the tool and return its result; errors are raised."""

    async def preview(self, args: A) -> CallPreview | None:  # noqa: ARG002
        """What the call would do, for the user who is asked to approve it. Reads only, and never waits long."""
        return None

    async def describe(self, arguments: Mapping[str, Any]) -> CallPreview | None:
        args: Any = self._parse(arguments)
        return await self.preview(args)

    def normalized(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments under the names of the schema and with its types; ValidationError if they do not match it."""
        try:
            return self._parse(arguments).model_dump(mode="json", by_alias=True, exclude_unset=True)
        except ChieError as error:
            self._report(error)
            raise

    async def handler(self, arguments: Mapping[str, Any]) -> ToolResponse:
        """Run the tool; every error becomes a response."""
        try:
            args: Any = self._parse(arguments)
            return self.respond(await self.execute(args), whole=self.is_whole(args))
        except ChieError as error:
            self._report(error)
            return error_response(error)
        except Exception as error:
            logger.error("[%s] Error", self.name, exc_info=error)  # noqa: TRY400
            return error_response(unexpected(self.name, error, arguments))

    def is_whole(self, args: A) -> bool:  # noqa: ARG002
        """Whether the result is exempt from the size limit."""
        return False

    def respond(self, result: object, *, whole: bool) -> ToolResponse:
        shown = result if whole else truncate(result, self.context.max_chars, self.truncation_advice)
        return {"content": [{"type": "text", "text": _json(shown)}]}

    def to_definition(self) -> ToolDefinition:
        schema = self.get_input_schema()
        return ToolDefinition(
            self.name,
            self.description,
            schema,
            self.annotations,
            self.handler,
            self.normalized,
            self.view,
            self.destructive_arguments,
        )

    def _report(self, error: ChieError) -> None:
        """In the log, whose formatter decides about the stack."""
        logger.error("[%s] Error", self.name, exc_info=error)
        name_operation(error, self.operation, OPERATIONS.get(self.operation, self.operation))

    def _parse(self, arguments: Mapping[str, Any]) -> Arguments:
        try:
            return self.arguments.model_validate(dict(arguments))
        except PydanticError as error:
            raise invalid(error, self.arguments) from None  # the text of Pydantic's error has the values


class RawTool(BaseTool[R]):
    """A tool with two results: a summary, and with `raw` the complete data, whatever its size."""

    def get_input_schema(self) -> dict[str, Any]:
        schema = super().get_input_schema()
        schema["properties"]["raw"] = schema["properties"].pop("raw")  # last: the tool's own arguments come first
        return schema

    async def execute(self, args: R) -> Any:  # noqa: ANN401
        return self.format_response(await self.execute_core(args), raw=args.raw)

    def is_whole(self, args: R) -> bool:
        return args.raw

    @abstractmethod
    async def execute_core(self, args: R) -> Any:  # noqa: ANN401
        """Run the tool and return the complete data."""

    @abstractmethod
    def format_response(self, data: Any, *, raw: bool) -> Any:  # noqa: ANN401
        """The data itself or a summary of it."""


class SavingTool(RawTool[R]):
    """A tool that saves a workflow; its result is the report."""

    def format_response(self, data: Report, *, raw: bool) -> Json:
        return report(data, raw=raw)


def error_response(error: ChieError) -> ToolResponse:
    return {
        "content": [{"type": "text", "text": error.message}],
        "isError": True,
        "structuredContent": error.details(),
    }


def _json(result: object) -> str:
    """Compact: whitespace is a fifth of indented JSON."""
    return json.dumps(result, ensure_ascii=False, separators=(",", ":"))
