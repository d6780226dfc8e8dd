"""What a request asks of an agent's model beside the conversation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """A tool as it is offered to a model."""

    name: str
    description: str
    schema: dict[str, Any]
    strict: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Options:
    """`system` follows the agent's own prompt, and `parameters` have OpenAI's names.

    The `tools` run at the client: calls of them end the answer. With `call_required` the model must call one of them,
    and the agent's own tools are not offered.
    """

    system: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[ToolSpec, ...] = ()
    call_required: bool = False

    @property
    def unusual_names(self) -> list[str]:
        """What an agent that only talks cannot follow."""
        return [*self.parameters, *(["tools"] if self.tools else [])]
