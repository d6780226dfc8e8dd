"""What a server may do while one of its tools runs: report progress, write to the log, and ask the user.

The run provides an `Interaction` for its own context; the tool loop adds the id of the call. Outside a run, as over
`/v1`, there is nobody to ask.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, Protocol, TypedDict

from chie.chat.events import Elicitation, ToolLog, ToolPreview, ToolProgress

Action = Literal["accept", "decline", "cancel"]


class Answer(TypedDict):
    """`content` is what the user entered, if a form was accepted."""

    action: Action
    content: NotRequired[dict[str, Any]]


CANCELLED = Answer(action="cancel")
Sample = Callable[[str, str, int], Awaitable[str]]  # system prompt, conversation as text, token limit


class Interaction(Protocol):
    def report(self, event: ToolProgress | ToolLog | ToolPreview) -> None: ...

    async def ask(self, question: Elicitation) -> Answer: ...


@dataclass(kw_only=True)
class RunningCall:
    """One tool call. While the user is asked, its time limit is suspended."""

    id: str
    interaction: Interaction
    sample: Sample | None = None
    limit: asyncio.Timeout | None = None
    seconds: float = 0.0

    @asynccontextmanager
    async def suspended(self) -> AsyncGenerator[None, None]:
        if self.limit is not None:
            self.limit.reschedule(None)
        try:
            yield
        finally:
            if self.limit is not None and not self.limit.expired():
                self.limit.reschedule(asyncio.get_running_loop().time() + self.seconds)


_interaction: ContextVar[Interaction | None] = ContextVar("chie_interaction", default=None)
_call: ContextVar[RunningCall | None] = ContextVar("chie_tool_call", default=None)


@contextmanager
def interacting(interaction: Interaction) -> Iterator[None]:
    """For the context of a run."""
    token = _interaction.set(interaction)
    try:
        yield
    finally:
        _interaction.reset(token)


def begin_call(call_id: str, sample: Sample | None = None) -> None:
    """For the rest of this task."""
    interaction = _interaction.get()
    _call.set(RunningCall(id=call_id, interaction=interaction, sample=sample) if interaction else None)


def current_call() -> RunningCall | None:
    return _call.get()
