"""The nouns of the toolbox, and the port behind which tools are found and run."""

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import mcp_types

LONGEST_NAME = 64  # what OpenAI and Bedrock take


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool by the name models call it; `original` is its name on `server`.

    `destructive` tools wait for the user's word. As the MCP specification has it, a tool is destructive unless it
    says that it only reads, or that it only adds.
    """

    name: str
    server: str
    original: str
    description: str
    schema: dict[str, Any]
    read_only: bool
    destructive: bool

    @classmethod
    def from_mcp(cls, server: str, tool: "mcp_types.Tool") -> "Tool":
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
        )


def callable_name(name: str) -> str:
    """The name itself where models' servers take it; else a short one that stays the same from day to day."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    if plain == name and len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{plain[: LONGEST_NAME - 9]}_{digest}"


@dataclass(frozen=True)
class Outcome:
    """What a call gave. A failure is an outcome too: the model shall read it and think of something else."""

    content: str
    is_error: bool = False
    structured: dict[str, Any] | None = None


State = Literal["idle", "connecting", "connected", "failed", "not_configured"]


@dataclass(frozen=True, kw_only=True)
class ServerState:
    """How a server does: `idle` until an agent first needs it; `failed` with the reason, and tried again.

    A room of the house whose settings are wanting is `not_configured`; its error says what to set.
    """

    name: str
    transport: Literal["built-in", "stdio", "http"]
    state: State
    error: str | None
    tools: tuple[Tool, ...]

    @property
    def is_away(self) -> bool:
        return self.state in ("failed", "not_configured")

    def details(self) -> dict[str, Any]:
        """For the page: tools by what a person wants to know of them, without their schemas."""
        tools = [
            {"name": tool.original, "description": tool.description, "destructive": tool.destructive}
            for tool in self.tools
        ]
        return {
            "name": self.name,
            "transport": self.transport,
            "state": self.state,
            "error": self.error,
            "tools": tools,
        }


class Toolset(ABC):
    """Some tools. Behaviour is added by wrapping one in another."""

    @abstractmethod
    def tools(self) -> Sequence[Tool]: ...

    @abstractmethod
    async def call(self, tool: Tool, arguments: dict[str, Any]) -> Outcome:
        """Never raises for what a server or a tool did: that is an outcome."""
