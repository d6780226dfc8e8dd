"""The one tool loop: the model speaks, its calls run, it reads the results, until it has said all it wants to say."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from time import perf_counter
from uuid import uuid4

from chie.chat.agents.base import Approve, Turn
from chie.chat.agents.text_joiner import Paragraphs
from chie.chat.events import Done, Event, Text, ToolCall, ToolResult, Usage
from chie.chat.models.base import (
    Call,
    CallResult,
    ChatModel,
    End,
    Message,
    ModelError,
    ModelSaid,
    Prompt,
    TextPiece,
    Thought,
    ToolSpec,
    ToolsSaid,
    UserSaid,
)
from chie.chat.toolbox.tool import Outcome, Tool, Toolset

logger = logging.getLogger(__name__)

PARALLEL = 8
ENOUGH = "You have used all your tool calls for this answer. Answer now, in words, with what you know."


@dataclass(kw_only=True)
class Loop:
    """One answer. Made for it and thrown away after it."""

    model: ChatModel
    system: str
    messages: list[Message]
    toolset: Toolset | None = None
    approve: Approve | None = None
    rounds: int = 10
    _usage: Usage | None = None
    _ids: set[str] = field(default_factory=set)
    _paragraphs: Paragraphs = field(default_factory=Paragraphs)
    _end: End = field(default_factory=lambda: End(None))
    _cut_call: str | None = None

    async def run(self) -> AsyncGenerator[Event, None]:
        for spent in range(self.rounds + 1):
            last = spent == self.rounds
            tools = {tool.name: tool for tool in self.toolset.tools()} if self.toolset else {}
            calls: list[Call] = []
            async with aclosing(self._speak(tools, calls, last=last)) as words:
                async for event in words:
                    yield event
            if not calls or self._end.stopped:
                self._refuse_silence()
                yield self._done()
                return
            if last:
                break
            async with aclosing(self._work(tools, calls)) as results:
                async for event in results:
                    yield event
        raise ModelError(
            f"The model called tools {self.rounds} times and came to no answer. Ask for less at once, "
            "or raise CHIE_TOOL_ROUNDS."
        )

    async def _speak(self, tools: dict[str, Tool], calls: list[Call], *, last: bool) -> AsyncGenerator[Event, None]:
        prompt = Prompt(
            system=f"{self.system}\n\n{ENOUGH}" if last and tools else self.system,
            messages=tuple(self.messages),
            tools=[_spec(tool) for tool in tools.values()],
            calls_allowed=not last,
        )
        began = perf_counter()
        text: list[str] = []
        thoughts: list[Thought] = []
        self._paragraphs.begin()
        async with aclosing(self.model.stream(prompt)) as pieces:
            async for piece in pieces:
                match piece:
                    case TextPiece(words):
                        text.append(words)
                        if shown := self._paragraphs.add(words):
                            yield Text(type="message", content=shown)
                    case Thought():
                        thoughts.append(piece)
                    case Call():
                        calls.append(replace(piece, id=self._unique(piece.id)))
                    case End(usage):
                        self._usage = _sum(self._usage, usage)
                        self._end = piece
        took = 1000 * (perf_counter() - began)
        logger.info("model %s spoke for %d ms and called %d tools", self.model.name, took, len(calls))
        self._cut_call = calls[-1].id if calls and self._end.cut else None
        self.messages.append(ModelSaid("".join(text), tuple(calls), tuple(thoughts)))

    def _done(self) -> Done:
        done = Done(type="done", usage=self._usage)
        if self._end.stopped:
            return {**done, "finish": "content_filter"}
        return {**done, "finish": "length"} if self._end.cut else done

    def _unique(self, wanted: str) -> str:
        """Some servers number their calls from nought in every message, or not at all."""
        name = wanted if wanted and wanted not in self._ids else f"call_{uuid4().hex[:12]}"
        self._ids.add(name)
        return name

    def _refuse_silence(self) -> None:
        if self._paragraphs.said:
            return
        if self._end.stopped:
            raise ModelError(
                f"The provider of the model {self.model.name} did not allow an answer to this. Ask in other words, or "
                "choose another model."
            )
        raise ModelError(f"The model {self.model.name} answered nothing. Ask again, or choose another model.")

    async def _work(self, tools: dict[str, Tool], calls: Sequence[Call]) -> AsyncGenerator[Event, None]:
        """Announce every call, then run them side by side; each result is told as it comes."""
        announced = [self._announce(call, tools.get(call.name)) for call in calls]
        for event in announced:
            yield event
        slots = asyncio.Semaphore(PARALLEL)
        results: dict[str, CallResult] = {}
        tasks = [
            asyncio.create_task(self._result(slots, tools.get(call.name), call, event))
            for call, event in zip(calls, announced, strict=True)
        ]
        try:
            for finished in asyncio.as_completed(tasks):
                name, result = await finished
                results[result.id] = result
                yield ToolResult(
                    type="tool_result", id=result.id, name=name, content=result.content, is_error=result.is_error
                )
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        self.messages.append(ToolsSaid(tuple(results[call.id] for call in calls)))

    def _announce(self, call: Call, tool: Tool | None) -> ToolCall:
        arguments = call.parsed()
        event = ToolCall(type="tool_call", id=call.id, name=call.name, arguments=arguments or {})
        runs = arguments is not None and call.id != self._cut_call
        if runs and tool is not None and tool.destructive and self.approve is not None:
            event["approval"] = "required"
        return event

    async def _result(
        self, slots: asyncio.Semaphore, tool: Tool | None, call: Call, event: ToolCall
    ) -> tuple[str, CallResult]:
        outcome = await self._outcome(slots, tool, call, event)
        return call.name, CallResult(call.id, outcome.content, outcome.is_error)

    async def _outcome(self, slots: asyncio.Semaphore, tool: Tool | None, call: Call, event: ToolCall) -> Outcome:
        arguments = call.parsed()
        if call.id == self._cut_call:
            return _failed("Your limit of tokens cut this call, so it did not run. Call again with less in it.")
        if tool is None or self.toolset is None:
            return _failed("There is no tool of this name. Use one of those you were given.")
        if arguments is None:
            return _failed("The arguments are not a JSON object. Call again with one that fits the tool's schema.")
        if tool.destructive and not await self._approved(event):
            return _failed("The user did not allow this call. Do without it, or ask the user what to do instead.")
        async with slots:
            return await self.toolset.call(tool, arguments)

    async def _approved(self, event: ToolCall) -> bool:
        approved = self.approve is not None and await self.approve(event)
        logger.info("tool %s was %s", event["name"], "approved" if approved else "refused")
        return approved


def conversation(history: Sequence[Turn], message: str) -> list[Message]:
    """Turns that alternate and begin with the user's, as Bedrock, Anthropic and many local templates demand."""
    messages: list[Message] = []
    for turn in (*history, Turn(role="user", content=message)):
        said = UserSaid if turn["role"] == "user" else ModelSaid
        last = messages[-1] if messages else None
        if not turn["content"].strip() or (last is None and said is ModelSaid):
            continue
        if isinstance(last, said):
            messages[-1] = said(f"{last.content}\n\n{turn['content']}")
        else:
            messages.append(said(turn["content"]))
    return messages


def _spec(tool: Tool) -> ToolSpec:
    return ToolSpec(name=tool.name, description=tool.description, schema=tool.schema)


def _failed(reason: str) -> Outcome:
    return Outcome(reason, is_error=True)


def _sum(first: Usage | None, second: Usage | None) -> Usage | None:
    if first is None or second is None:
        return first or second
    return Usage(
        input_tokens=first["input_tokens"] + second["input_tokens"],
        output_tokens=first["output_tokens"] + second["output_tokens"],
    )
