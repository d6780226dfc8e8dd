"""The tool loop: the model answers, its tool calls run, it reads the results, until it makes no more calls."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any
from uuid import uuid4

from chie.chat.agents import metered
from chie.chat.agents.base import Approve
from chie.chat.agents.call_preview import previewing
from chie.chat.agents.context_budget import Summary
from chie.chat.agents.context_window import READ_RESULT, ContextWindow
from chie.chat.agents.conversation import in_words
from chie.chat.agents.dependencies import AgentTools
from chie.chat.agents.project import READ_FILE, ProjectReader
from chie.chat.agents.reply import Reply
from chie.chat.agents.summaries import SummaryCache
from chie.chat.agents.text_joiner import TextJoiner
from chie.chat.events import ClientCall, Done, Event, ToolCall, ToolResult, Usage, ViewRef, total_usage
from chie.chat.interaction import begin_call
from chie.chat.models.base import ChatModel, Prompt
from chie.chat.models.chunks import Call
from chie.chat.models.errors import ContextError, ModelError, ReasoningError
from chie.chat.models.messages import AssistantMessage, CallResult, ChatMessage, ToolMessage, UserMessage
from chie.chat.models.options import Options, ToolSpec
from chie.chat.toolbox.preview import hinted_preview
from chie.chat.toolbox.tool import NoTools, Outcome, Tool, Toolset
from chie.messages.catalogue import Message

logger = logging.getLogger(__name__)

MAX_PARALLEL_CALLS = 8
LIMITS = frozenset({"max_tokens", "max_completion_tokens", "stop"})  # with these an answer may be empty
NO_CALLS_LEFT = "You have used all your tool calls for this answer. Answer now, in words, with what you know."


@dataclass(frozen=True)
class _Pending:
    """A call that was announced as `event`; `tool` is what will run, or the result if nothing will."""

    tool: Tool | Outcome
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
    summary: Summary | None = None
    summaries: SummaryCache = field(default_factory=SummaryCache)
    project: ProjectReader | None = None
    _toolset: Toolset = field(default_factory=NoTools)
    _window: ContextWindow = field(init=False)
    _usage: Usage | None = None
    _ids: set[str] = field(default_factory=set)
    _joiner: TextJoiner = field(default_factory=TextJoiner)
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_PARALLEL_CALLS))

    def __post_init__(self) -> None:
        self._window = ContextWindow(
            model=self.model, messages=self.messages, summary=self.summary, summaries=self.summaries
        )

    async def run(self) -> AsyncGenerator[Event, None]:
        """Passes text on as it arrives, as every generator between the model and the consumer does."""
        await self._open_tools()
        self._ids = {call.id for message in self.messages for call in getattr(message, "calls", ())}
        for used in range(self.max_rounds + 1):
            last = used == self.max_rounds
            tools = self._own_tools()
            reply, began = Reply(self._joiner), perf_counter()
            while True:
                async with aclosing(self._fit(tools)) as summaries:
                    async for summary in summaries:
                        yield summary
                try:
                    async with aclosing(metered.stream(self.model, self._prompt(tools, last=last))) as chunks:
                        async for chunk in chunks:
                            if piece := reply.add(chunk):
                                yield piece
                    break
                except (ContextError, ReasoningError) as error:
                    self._adapt(error, started=not reply.is_empty)
            self._record(reply, 1000 * (perf_counter() - began))
            if done := self._done(reply):
                yield done
                return
            if last:
                break
            async with aclosing(self._run_calls(tools, reply)) as events:
                async for event in events:
                    yield event
        raise ModelError("models.too_many_tool_rounds", rounds=self.max_rounds)

    def _adapt(self, error: ContextError | ReasoningError, *, started: bool) -> None:
        """Make the next request one that the model may take. Raises the error if that is not possible."""
        if isinstance(error, ContextError):
            self._window.learn(error, started=started)
        elif started or not any(isinstance(one, AssistantMessage) and one.reasoning for one in self.messages):
            raise error
        else:  # thinking is taken back only after the very conversation that led to it, and this one was shortened
            logger.info("the conversation is sent to %s without what it thought", self.model.name)
            for position, one in enumerate(self.messages):
                if isinstance(one, AssistantMessage):
                    self.messages[position] = replace(one, reasoning=())

    async def _open_tools(self) -> None:
        """Which servers are unavailable is known once the others are connected; the system prompt names them."""
        if self.tools is not None:
            self._toolset = await self.tools.open()
            self.system = "\n\n".join(filter(None, (self.system, self.tools.notice())))
        self.system = "\n\n".join(filter(None, (self.system, await self._about_project(), self.options.system)))

    async def _about_project(self) -> str:
        return await self.project.prompt(self.model, readable=self.tools is not None) if self.project else ""

    def _own_tools(self) -> dict[str, Tool]:
        """The client's tools take precedence over those of the same name."""
        if self.options.call_required:
            return {}
        client_names = {tool.name for tool in self.options.tools}
        offered = [*self._toolset.tools(), *self._project_tools()]
        return {tool.name: tool for tool in offered if tool.for_model and tool.name not in client_names}

    def _project_tools(self) -> Sequence[Tool]:
        return [READ_FILE] if self.tools is not None and self.project and self.project.is_shortened else []

    async def _fit(self, tools: dict[str, Tool]) -> AsyncGenerator[Event, None]:
        """Before each request: make the conversation fit, and offer the tool that reads what was shortened."""
        await self._window.open(self.system, self._specs(tools))
        async with aclosing(self._window.compact()) as summaries:
            async for summary in summaries:
                yield summary
        if tools and self._window.is_shortened:
            tools.setdefault(READ_RESULT.name, READ_RESULT)

    def _specs(self, tools: Mapping[str, Tool]) -> list[ToolSpec]:
        return [*map(_spec, tools.values()), *self.options.tools]

    def _prompt(self, tools: Mapping[str, Tool], *, last: bool) -> Prompt:
        messages = self._window.fitted(readable=READ_RESULT.name in tools)
        return Prompt(
            system=f"{self.system}\n\n{NO_CALLS_LEFT}" if last and tools else self.system,
            messages=tuple(messages if tools or self.options.tools else in_words(messages)),
            tools=self._specs(tools),
            calls_allowed=not last,
            call_required=self.options.call_required,
            parameters=self.options.parameters,
        )

    def _record(self, reply: Reply, milliseconds: float) -> None:
        logger.info("model %s replied in %d ms with %d calls", self.model.name, milliseconds, len(reply.calls))
        reply.calls = [replace(call, id=self._unique_id(call.id)) for call in self._of_one_side(reply.calls)]
        self.messages.append(reply.message())
        self._usage = total_usage(self._usage, reply.end.usage)
        self._usage, self._window.usage = total_usage(self._usage, self._window.usage), None
        if self.model.context and reply.end.usage:
            self._window.calibrate(reply.end.usage["input_tokens"])

    def _of_one_side(self, calls: list[Call]) -> list[Call]:
        """Calls of our own tools go first: the client could not be told their results. The model repeats the others."""
        client_names = {tool.name for tool in self.options.tools}
        return [call for call in calls if call.name not in client_names] or calls

    def _unique_id(self, given: str) -> str:
        """Some servers number their calls from zero in every message, or not at all."""
        unique = given if given and given not in self._ids else f"call_{uuid4().hex[:12]}"
        self._ids.add(unique)
        return unique

    def _done(self, reply: Reply) -> Done | None:
        """The last event; None if there are calls to run here."""
        if not reply.calls or reply.end.filtered:
            return self._done_in_words(reply)
        if reply.calls[0].name not in {tool.name for tool in self.options.tools}:
            return None
        done = Done(type="done", usage=self._usage, calls=[_client_call(call) for call in reply.calls])
        return {**done, "finish": "length" if reply.end.truncated else "tool_calls"}

    def _done_in_words(self, reply: Reply) -> Done:
        """An answer without text is an error, unless the client has limited it."""
        if not self._joiner.has_text and (reply.end.filtered or not LIMITS & self.options.parameters.keys()):
            raise reply.missing_text(self.model.name or "?")
        done = Done(type="done", usage=self._usage)
        if reply.end.filtered:
            return {**done, "finish": "content_filter"}
        return {**done, "finish": "length"} if reply.end.truncated else done

    async def _pending(self, call: Call, tools: Mapping[str, Tool], reply: Reply) -> _Pending:
        arguments = call.parsed()
        tool: Tool | Outcome = tools.get(call.name) or Outcome.failed(Message("agents.tool_unknown"))
        if reply.end.truncated and call is reply.calls[-1]:
            tool = Outcome.failed(Message("agents.call_truncated"))
        elif arguments is None and isinstance(tool, Tool):
            tool = Outcome.failed(Message("agents.arguments_invalid"))
        if arguments is not None and isinstance(tool, Tool):
            tool, arguments = await self._normalized(tool, arguments)
        event = ToolCall(type="tool_call", id=call.id, name=call.name, arguments=arguments or {})
        if isinstance(tool, Tool) and tool.view:
            event["view"] = ViewRef(server=tool.server, uri=tool.view)
        if isinstance(tool, Tool) and tool.needs_approval(event["arguments"]) and self.approve is not None:
            event["approval"] = "required"
            if not tool.always_ask:
                event["definition"] = tool.approval_key
            event["preview"] = hinted_preview(tool)
            if tool.changed:
                event["changed"] = True
        return _Pending(tool, event)

    async def _normalized(self, tool: Tool, arguments: dict[str, Any]) -> tuple[Tool | Outcome, dict[str, Any]]:
        """What is shown, judged, approved and sent is the same: the arguments as the tool will read them."""
        if self.project:
            arguments = self.project.project.arguments(tool, arguments)
        found = await self._toolset.normalized(tool, arguments)
        return (found, arguments) if isinstance(found, Outcome) else (tool, found)

    async def _run_calls(self, tools: Mapping[str, Tool], reply: Reply) -> AsyncGenerator[Event, None]:
        pending = [await self._pending(call, tools, reply) for call in reply.calls]
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

    async def _outcome(self, tool: Tool | Outcome, event: ToolCall) -> Outcome:
        if isinstance(tool, Outcome):
            return tool
        if tool.needs_approval(event["arguments"]) and not await self._approved(tool, event):
            return Outcome.failed(Message("agents.call_rejected"))
        if tool is READ_RESULT:
            return self._window.read(event["arguments"])
        if tool is READ_FILE and self.project:
            return self.project.read(event["arguments"])
        if self._has_changed(tool):
            return Outcome.failed(Message("agents.tool_changed"))
        async with self._slots:
            return await self._toolset.call(tool, event["arguments"])

    async def _sample(self, system: str, text: str, max_tokens: int) -> str:  # noqa: ARG002 - providers differ
        """The model's answer to a server. It reads nothing of the conversation and gets no tools."""
        prompt = Prompt(system=system, messages=(UserMessage(text),), tools=[], calls_allowed=False)
        reply = Reply(TextJoiner())
        async with aclosing(metered.stream(self.model, prompt)) as chunks:
            async for chunk in chunks:
                reply.add(chunk)
        self._usage = total_usage(self._usage, reply.end.usage)
        return reply.message().content

    def _has_changed(self, tool: Tool) -> bool:
        """Whether the server has redefined the tool since it was offered, for example while it waited for approval."""
        return any(one.name == tool.name and one.definition != tool.definition for one in self._toolset.tools())

    async def _approved(self, tool: Tool, event: ToolCall) -> bool:
        if self.approve is None:
            return False
        async with previewing(self._toolset, tool, event):
            approved = await self.approve(event)
        logger.info("tool %s was %s", event["name"], "approved" if approved else "rejected")
        return approved


def _client_call(call: Call) -> ClientCall:
    return ClientCall(id=call.id, name=call.name, arguments=call.arguments or "{}")


def _spec(tool: Tool) -> ToolSpec:
    return ToolSpec(name=tool.name, description=tool.description, schema=tool.schema)


def _for_model(result: ToolResult) -> CallResult:
    return CallResult(result["id"], result["content"], result["is_error"])
