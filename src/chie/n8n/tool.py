"""What every tool of this room is: a name, a description, typed arguments, and one place where errors are caught."""

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, NotRequired, TypedDict, TypeVar

from mcp_types import ToolAnnotations
from pydantic import ValidationError as PydanticError

from chie.errors import ChieError
from chie.mcp_kit.errors import unexpected
from chie.messages.validation import invalid_arguments
from chie.n8n.arguments import Arguments, RawArguments, Untitled
from chie.n8n.budget import fit
from chie.n8n.context import ToolContext

logger = logging.getLogger(__name__)

A = TypeVar("A", bound=Arguments)
R = TypeVar("R", bound=RawArguments)

READ = ToolAnnotations(read_only_hint=True, open_world_hint=True)
ADD = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True)
CHANGE = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=True)


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
    view: str | None = None


class BaseTool(ABC, Generic[A]):
    name: ClassVar[str]
    description: ClassVar[str]
    annotations: ClassVar[ToolAnnotations] = READ
    arguments: ClassVar[type[Arguments]]
    view: ClassVar[str | None] = None  # the page that shows its answers, for hosts that show pages
    when_cut: ClassVar[str] = "Ask for less, or let the operator raise N8N_MAX_CHARS."

    def __init__(self, context: ToolContext) -> None:
        self.context = context

    def get_input_schema(self) -> dict[str, Any]:
        schema = self.arguments.model_json_schema(by_alias=True, schema_generator=Untitled)
        schema.pop("title", None)
        return schema

    @abstractmethod
    async def execute(self, args: A) -> Any:  # noqa: ANN401
        """Do it, and return what the caller shall read; failures are raised."""

    async def handler(self, arguments: Mapping[str, Any]) -> ToolResponse:
        """The edge of this room: whatever happens inside, an answer comes out."""
        try:
            args: Any = self._parse(arguments)
            return self.respond(await self.execute(args))
        except ChieError as error:
            logger.error("[%s] Error", self.name, exc_info=error)  # noqa: TRY400 - the log decides about the stack
            return failed(error)
        except Exception as error:
            logger.error("[%s] Error", self.name, exc_info=error)  # noqa: TRY400
            return failed(unexpected(self.name))

    def respond(self, result: object) -> ToolResponse:
        shown = fit(result, self.context.max_chars, self.when_cut)
        return {"content": [{"type": "text", "text": _json(shown)}]}

    def to_definition(self) -> ToolDefinition:
        schema = self.get_input_schema()
        return ToolDefinition(self.name, self.description, schema, self.annotations, self.handler, self.view)

    def _parse(self, arguments: Mapping[str, Any]) -> Arguments:
        try:
            return self.arguments.model_validate(dict(arguments))
        except PydanticError as error:
            raise invalid_arguments(error) from error


class RawTool(BaseTool[R]):
    """A tool with two answers: a small one that says what matters, and with `raw` the whole, nothing left out."""

    def get_input_schema(self) -> dict[str, Any]:
        schema = super().get_input_schema()
        schema["properties"]["raw"] = schema["properties"].pop("raw")  # last: what a tool is about comes first
        return schema

    async def execute(self, args: R) -> Any:  # noqa: ANN401
        return self.format_response(await self.execute_core(args), raw=args.raw)

    @abstractmethod
    async def execute_core(self, args: R) -> Any:  # noqa: ANN401
        """Do it, and return all that is known."""

    @abstractmethod
    def format_response(self, data: Any, *, raw: bool) -> Any:  # noqa: ANN401
        """Choose from it what to show."""


def failed(error: ChieError) -> ToolResponse:
    return {
        "content": [{"type": "text", "text": error.message}],
        "isError": True,
        "structuredContent": error.details(),
    }


def _json(result: object) -> str:
    """Without blanks: they are a fifth of an indented answer and say nothing."""
    return json.dumps(result, ensure_ascii=False, separators=(",", ":"))
