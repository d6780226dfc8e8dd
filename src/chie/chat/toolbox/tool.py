"""Tools, their results, the state of servers, and the port through which tools are listed and called."""

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from chie.chat.events import ToolCall, ToolResult
from chie.mcp_kit.approval import DESTRUCTIVE_ARGUMENTS_META
from chie.messages.catalogue import Message

if TYPE_CHECKING:
    import mcp_types

Hint = Literal["read_only", "only_adds", "destroys", "unknown"]

MAX_NAME = 64  # the limit of OpenAI and Bedrock
MAX_VIEW_CHARACTERS = 1_000_000  # of a result that is kept for a view


@dataclass(frozen=True, kw_only=True)
class Tool:
    """`name` is the name that models use, `original` the name on `server`.

    `destructive` tools wait for the user's approval. As in the MCP specification, a tool is destructive unless it is
    annotated as read-only or as only adding. Of a tool with `destructive_arguments` only the calls that set one of them
    wait. With `always_ask` every call waits, and no list of approved tools changes that. `definition` is a hash of all
    that the server says about the tool; with `changed` it differs from the accepted one, which voids approvals.
    """

    name: str
    server: str
    original: str
    description: str
    schema: dict[str, Any]
    read_only: bool
    destructive: bool
    destructive_arguments: frozenset[str] = frozenset()
    always_ask: bool = False
    title: str = ""
    hint: Hint = "unknown"  # what the server says, whatever the operator's lists make of it
    open_world: bool = False
    definition: str = ""
    changed: bool = False
    view: str | None = None  # the URI of the view that shows its results
    for_model: bool = True
    for_view: bool = True

    @classmethod
    def from_mcp(cls, server: str, tool: "mcp_types.Tool", *, builtin: bool = False) -> "Tool":
        """Only a built-in server may name its destructive arguments: others could use that to avoid the question."""
        hints = tool.annotations
        read_only = bool(hints and hints.read_only_hint)
        only_adds = hints is not None and hints.destructive_hint is False
        return cls(
            name=callable_name(tool.name),
            server=server,
            original=tool.name,
            description=tool.description or tool.title or tool.name,
            schema={"type": "object", "properties": {}, **tool.input_schema},
            read_only=read_only,
            destructive=not (read_only or only_adds),
            destructive_arguments=frozenset((tool.meta or {}).get(DESTRUCTIVE_ARGUMENTS_META, ()) if builtin else ()),
            title=(hints and hints.title) or tool.title or tool.name,
            hint=_hint(hints),
            open_world=bool(hints and hints.open_world_hint),
            definition=_fingerprint(tool),
            **_about_views(tool.meta or {}),
        )

    def needs_approval(self, arguments: Mapping[str, Any]) -> bool:
        """`arguments` must be `normalized`: then an argument is set unless it is false, null or empty."""
        if self.always_ask or not self.destructive_arguments:
            return self.always_ask or self.destructive
        return self.destructive and any(arguments.get(name) for name in self.destructive_arguments)

    @property
    def approval_key(self) -> str:
        """For what a remembered approval counts: this definition of this server. Another server may offer a tool that
        looks the same."""
        return hashlib.sha256(f"{self.server}\n{self.definition}".encode()).hexdigest()[:16]


def _hint(hints: "mcp_types.ToolAnnotations | None") -> Hint:
    if hints is None:
        return "unknown"
    if hints.read_only_hint:
        return "read_only"
    if hints.destructive_hint is None:
        return "unknown"
    return "destroys" if hints.destructive_hint else "only_adds"


def _about_views(meta: Mapping[str, Any]) -> dict[str, Any]:
    """From a tool's `_meta`: its view, and who may call it. The flat key is of an older revision."""
    given = meta.get("ui")
    ui = given if isinstance(given, dict) else {"resourceUri": meta.get("ui/resourceUri")}
    uri, visibility = ui.get("resourceUri"), ui.get("visibility")
    callers = visibility if isinstance(visibility, list) else ["model", "app"]
    view = uri if isinstance(uri, str) and uri.startswith("ui://") else None
    return {"view": view, "for_model": "model" in callers, "for_view": "app" in callers}


def _fingerprint(tool: "mcp_types.Tool") -> str:
    said = tool.model_dump(
        mode="json", include={"title", "description", "input_schema", "output_schema", "annotations"}
    )
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]


def callable_name(name: str) -> str:
    """The name itself if model providers accept it, otherwise a shortened one with a stable hash."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    if plain == name and len(name) <= MAX_NAME:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{plain[: MAX_NAME - 9]}_{digest}"


@dataclass(frozen=True)
class Outcome:
    """The result of a call. A failure is a result too: the model reads it and can try something else.

    `blocks` is the content as the server sent it, for a view: `content` joins it and may be truncated.
    `code` and `params` are set if the text comes from the message catalogue.
    """

    content: str
    is_error: bool = False
    structured: dict[str, Any] | None = None
    blocks: Sequence[Mapping[str, Any]] = ()
    code: str | None = None
    params: dict[str, Any] | None = None

    @classmethod
    def failed(cls, reason: Message) -> "Outcome":
        return cls(str(reason), is_error=True, code=reason.code, params=reason.json_params())

    def event(self, call: ToolCall) -> ToolResult:
        event = ToolResult(
            type="tool_result", id=call["id"], name=call["name"], content=self.content, is_error=self.is_error
        )
        if "view" in call and self.structured is not None:
            event["structured"] = self.structured
        if "view" in call and self._is_more_than_its_text and len(json.dumps(self.blocks)) <= MAX_VIEW_CHARACTERS:
            event["blocks"] = [dict(block) for block in self.blocks]
        if self.code is not None:
            event["code"], event["params"] = self.code, self.params or {}
        return event

    @property
    def _is_more_than_its_text(self) -> bool:
        return bool(self.blocks) and list(self.blocks) != [{"type": "text", "text": self.content}]


Transport = Literal["built-in", "stdio", "http"]
State = Literal["idle", "connecting", "connected", "failed", "not_configured"]


@dataclass(frozen=True, kw_only=True)
class ServerState:
    """`idle` until an agent first uses the server; `failed` servers are retried.

    `not_configured` is a built-in server that lacks settings; its error names them.
    """

    name: str
    transport: Transport
    state: State
    error: Message | None
    tools: tuple[Tool, ...]

    @property
    def is_down(self) -> bool:
        return self.state in ("failed", "not_configured")

    def details(self) -> dict[str, Any]:
        """As JSON for the page. Tools are listed without their schemas."""
        tools = [
            {
                "name": tool.original,
                "description": tool.description,
                "destructive": tool.destructive,
                "changed": tool.changed,
            }
            for tool in self.tools
        ]
        return {
            "name": self.name,
            "transport": self.transport,
            "state": self.state,
            "error": str(self.error) if self.error else None,
            "error_code": self.error.code if self.error else None,
            "error_params": self.error.json_params() if self.error else None,
            "tools": tools,
            "login": "required" if self.error and self.error.code == "toolbox.login_required" else None,
        }


class Toolset(ABC):
    """A set of tools. Behaviour is added by wrapping one set in another."""

    @abstractmethod
    def tools(self) -> Sequence[Tool]: ...

    @abstractmethod
    async def call(self, tool: Tool, arguments: dict[str, Any]) -> Outcome:
        """Does not raise for errors of a server or a tool: they are outcomes."""

    async def normalized(self, tool: Tool, arguments: dict[str, Any]) -> dict[str, Any] | Outcome:  # noqa: ARG002
        """The arguments as the tool will read them, to be judged, shown and sent, or why it would reject them. A server
        of others does not say; whether its tools wait for approval does not depend on their arguments."""
        return arguments

    async def preview(self, tool: Tool, arguments: dict[str, Any]) -> dict[str, Any] | None:  # noqa: ARG002
        """What the call would do, by the server that would do it; None if it does not say."""
        return None


class NoTools(Toolset):
    def tools(self) -> Sequence[Tool]:
        return ()

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> Outcome:  # noqa: ARG002
        return Outcome.failed(Message("toolbox.tool_not_found"))
