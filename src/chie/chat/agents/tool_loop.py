"""The tool loop: the model answers, its tool calls run, it reads the results, until it makes no more calls."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from uuid import uuid4

from chie.chat.agents.base import Approve
from chie.chat.agents.context_budget import budget, fitted, size
from chie.chat.agents.conversation import in_words
from chie.chat.agents.dependencies import AgentTools
from chie.chat.agents.text_joiner import TextJoiner
from chie.chat.events import ClientCall, Done, Event, ReasoningText, Text, ToolCall, ToolResult, Usage
from chie.chat.interaction import begin_call
from chie.chat.models.base import ChatModel, Prompt
from chie.chat.models.chunks import Call, Chunk, End, Reasoning, ReasoningDelta, TextDelta
from chie.chat.models.errors import ContextError, ModelError
from chie.chat.models.messages import AssistantMessage, CallResult, ChatMessage, ToolMessage, UserMessage
from chie.chat.models.options import Options, ToolSpec
from chie.chat.toolbox.tool import NoTools, Outcome, Tool, Toolset
from chie.messages.catalogue import Message

logger = logging.getLogger(__name__)

MAX_PARALLEL_CALLS = 8
LIMITS = frozenset({"max_tokens", "max_completion_tokens", "stop"})  # with these an answer may be empty
NO_CALLS_LEFT = "You have used all your tool calls for this answer. Answer now, in words, with what you know."


class _Reply:
    """One message of the model, collected from its chunks."""

    def __init__(self, joiner: TextJoiner) -> None:
        self.calls: list[Call] = []
        self.end = End(None)
        self._joiner = joiner
        self._text: list[str] = []
        self._reasoning: list[Reasoning] = []
        self._has_thought = False
        joiner.start_message()

    def add(self, chunk: Chunk) -> Text | ReasoningText | None:
        """The text to show, if the chunk has any."""
        match chunk:
            case TextDelta(text):
                self._text.append(text)
                if shown := self._joiner.add(text):
                    return Text(type="message", content=shown)
            case ReasoningDelta(text):
                return self._thought(text)
            case Reasoning():
                self._reasoning.append(chunk)
            case Call():
                self.calls.append(chunk)
            case End():
                self.end = chunk
        return None

    def _thought(self, text: str) -> ReasoningText | None:
        """Models that were told not to think send white space."""
        text = text if self._has_thought else text.lstrip()
        self._has_thought = self._has_thought or bool(text)
        return ReasoningText(type="reasoning", content=text) if text else None

    @property
    def is_empty(self) -> bool:
        return not (self._text or self.calls or self._has_thought)

    def missing_text(self, model: str) -> ModelError:
        """The error of an answer without text: the provider stopped it, or the model used its tokens to think."""
        if self.end.filtered:
            return ModelError("models.answer_filtered", model=model)
        if not self._has_thought:
            return ModelError("models.answer_empty", model=model)
        cut = "models.reasoning_truncated" if self.end.truncated else "models.reasoning_only"
        return ModelError(cut, model=model)

    def message(self) -> AssistantMessage:
        return AssistantMessage("".join(self._text), tuple(self.calls), tuple(self._reasoning))


@dataclass(frozen=True)
class _Pending:
    """A call that was announced as `event`; `tool` is what will run, or the reason why nothing will."""

    tool: Tool | Message
    event: ToolCall


@dataclass(kw_only=True)
class ToolLoop:
    """One answer. Created for it and discarded afterwards."""

    model: ChatModel
    system: str
    messages: list[ChatMessage]
    tools: AgentTools | None = None
    approve: Approve | None = None
    max_rounds: int = 10
    options: Options = field(default_factory=Options)
    _toolset: Toolset = field(default_factory=NoTools)
    _usage: Usage | None = None
    _shortened: bool = False
    _ids: set[str] = field(default_factory=set)
    _joiner: TextJoiner = field(default_factory=TextJoiner)
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_PARALLEL_CALLS))

    async def run(self) -> AsyncGenerator[Event, None]:
        """The only generator between the model's and the consumer's: text must be passed on as it arrives."""
        await self._open_tools()
        self._ids = {call.id for message in self.messages for call in getattr(message, "calls", ())}
        for used in range(self.max_rounds + 1):
            last = used == self.max_rounds
            tools = self._own_tools()
            reply, began = _Reply(self._joiner), perf_counter()
            while True:
                try:
                    async with aclosing(self.model.stream(self._prompt(tools, last=last))) as chunks:
                        async for chunk in chunks:
                            if piece := reply.add(chunk):
                                yield piece
                    break
                except ContextError as error:
                    if not self._shorten(error, reply):
                        raise
            self._record(reply, 1000 * (perf_counter() - began))
            if done := self._done(reply):
                yield done
                return
            if last:
                break
            async with aclosing(self._run_calls([self._pending(call, tools, reply) for call in reply.calls])) as events:
                async for event in events:
                    yield event
        raise ModelError("models.too_many_tool_rounds", rounds=self.max_rounds)

    def _shorten(self, error: ContextError, reply: _Reply) -> bool:
        """Make the conversation fit after the model has refused it; False if that was tried, or text has been shown."""
        if self._shortened or not reply.is_empty:
            return False
        self._shortened = True
        self.model.context = error.limit or self.model.context
        logger.info("the conversation is too long for %s, whose context has %s tokens", self.model.name, error.limit)
        self.messages = fitted(self.messages, budget(error.limit) if error.limit else size(self.messages) // 2)
        return True

    async def _open_tools(self) -> None:
        """Which servers are unavailable is known once the others are connected; the system prompt names them."""
        if self.tools is not None:
            self._toolset = await self.tools.open()
            self.system = "\n\n".join(filter(None, (self.system, self.tools.notice())))
        self.system = "\n\n".join(filter(None, (self.system, self.options.system)))

    def _own_tools(self) -> dict[str, Tool]:
        """The client's tools take precedence over those of the same name."""
        if self.options.call_required:
            return {}
        client_names = {tool.name for tool in self.options.tools}
        return {tool.name: tool for tool in self._toolset.tools() if tool.name not in client_names}

    def _prompt(self, tools: Mapping[str, Tool], *, last: bool) -> Prompt:
        messages = fitted(self.messages, budget(self.model.context)) if self.model.context else self.messages
        return Prompt(
            system=f"{self.system}\n\n{NO_CALLS_LEFT}" if last and tools else self.system,
            messages=tuple(messages if tools or self.options.tools else in_words(messages)),
            tools=[*map(_spec, tools.values()), *self.options.tools],
            calls_allowed=not last,
            call_required=self.options.call_required,
            parameters=self.options.parameters,
        )

    def _record(self, reply: _Reply, milliseconds: float) -> None:
        logger.info("model %s replied in %d ms with %d calls", self.model.name, milliseconds, len(reply.calls))
        reply.calls = [replace(call, id=self._unique_id(call.id)) for call in self._of_one_side(reply.calls)]
        self.messages.append(reply.message())
        self._usage = _sum(self._usage, reply.end.usage)

    def _of_one_side(self, calls: list[Call]) -> list[Call]:
        """Calls of our own tools go first: the client could not be told their results. The model repeats the others."""
        client_names = {tool.name for tool in self.options.tools}
        return [call for call in calls if call.name not in client_names] or calls

    def _unique_id(self, given: str) -> str:
        """Some servers number their calls from zero in every message, or not at all."""
        unique = given if given and given not in self._ids else f"call_{uuid4().hex[:12]}"
        self._ids.add(unique)
        return unique

    def _done(self, reply: _Reply) -> Done | None:
        """The last event; None if there are calls to run here."""
        if not reply.calls or reply.end.filtered:
            return self._done_in_words(reply)
        if reply.calls[0].name not in {tool.name for tool in self.options.tools}:
            return None
        done = Done(type="done", usage=self._usage, calls=[_client_call(call) for call in reply.calls])
        return {**done, "finish": "length" if reply.end.truncated else "tool_calls"}

    def _done_in_words(self, reply: _Reply) -> Done:
        """An answer without text is an error, unless the client has limited it."""
        if not self._joiner.has_text and (reply.end.filtered or not LIMITS & self.options.parameters.keys()):
            raise reply.missing_text(self.model.name or "?")
        done = Done(type="done", usage=self._usage)
        if reply.end.filtered:
            return {**done, "finish": "content_filter"}
        return {**done, "finish": "length"} if reply.end.truncated else done

    def _pending(self, call: Call, tools: Mapping[str, Tool], reply: _Reply) -> _Pending:
        arguments = call.parsed()
        tool: Tool | Message = tools.get(call.name) or Message("agents.tool_unknown")
        if reply.end.truncated and call is reply.calls[-1]:
            tool = Message("agents.call_truncated")
        elif arguments is None and isinstance(tool, Tool):
            tool = Message("agents.arguments_invalid")
        event = ToolCall(type="tool_call", id=call.id, name=call.name, arguments=arguments or {})
        if isinstance(tool, Tool) and tool.needs_approval(event["arguments"]) and self.approve is not None:
            event["approval"] = "required"
            event["definition"] = tool.definition
            if tool.changed:
                event["changed"] = True
        return _Pending(tool, event)

    async def _run_calls(self, pending: Sequence[_Pending]) -> AsyncGenerator[Event, None]:
        for call in pending:
            yield call.event
        async with self._running(pending) as results:
            for result in asyncio.as_completed(results):
                yield await result

    @asynccontextmanager
    async def _running(self, pending: Sequence[_Pending]) -> AsyncIterator[Sequence[asyncio.Task[ToolResult]]]:
        """Runs the calls in parallel; those that have not finished on exit are cancelled."""
        tasks = [asyncio.create_task(self._result(call)) for call in pending]
        try:
            yield tasks
            self.messages.append(ToolMessage(tuple(_for_model(task.result()) for task in tasks)))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _result(self, pending: _Pending) -> ToolResult:
        begin_call(pending.event["id"], self._sample)
        return (await self._outcome(pending.tool, pending.event)).event(pending.event)

    async def _outcome(self, tool: Tool | Message, event: ToolCall) -> Outcome:
        if isinstance(tool, Message):
            return Outcome.failed(tool)
        if tool.needs_approval(event["arguments"]) and not await self._approved(event):
            return Outcome.failed(Message("agents.call_rejected"))
        if self._has_changed(tool):
            return Outcome.failed(Message("agents.tool_changed"))
        async with self._slots:
            return await self._toolset.call(tool, event["arguments"])

    async def _sample(self, system: str, text: str, max_tokens: int) -> str:  # noqa: ARG002 - providers differ
        """The model's answer to a server. It reads nothing of the conversation and gets no tools."""
        prompt = Prompt(system=system, messages=(UserMessage(text),), tools=[], calls_allowed=False)
        reply = _Reply(TextJoiner())
        async with aclosing(self.model.stream(prompt)) as chunks:
            async for chunk in chunks:
                reply.add(chunk)
        self._usage = _sum(self._usage, reply.end.usage)
        return reply.message().content

    def _has_changed(self, tool: Tool) -> bool:
        """Whether the server has redefined the tool since it was offered, for example while it waited for approval."""
        return any(one.name == tool.name and one.definition != tool.definition for one in self._toolset.tools())

    async def _approved(self, event: ToolCall) -> bool:
        approved = self.approve is not None and await self.approve(event)
        logger.info("tool %s was %s", event["name"], "approved" if approved else "rejected")
        return approved


def _client_call(call: Call) -> ClientCall:
    return ClientCall(id=call.id, name=call.name, arguments=call.arguments or "{}")


def _spec(tool: Tool) -> ToolSpec:
    return ToolSpec(name=tool.name, description=tool.description, schema=tool.schema)


def _for_model(result: ToolResult) -> CallResult:
    return CallResult(result["id"], result["content"], result["is_error"])


def _sum(first: Usage | None, second: Usage | None) -> Usage | None:
    if first is None or second is None:
        return first or second
    return Usage(
        input_tokens=first["input_tokens"] + second["input_tokens"],
        output_tokens=first["output_tokens"] + second["output_tokens"],
    )
