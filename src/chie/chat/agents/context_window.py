"""The part of a conversation that a model is sent: what its context holds, and a summary of the rest."""

import json
import logging
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

from chie.chat.agents.context_budget import (
    READ_TOOL,
    Summary,
    budget,
    covered,
    fitted,
    question_positions,
    shortened,
    size,
    summarised,
    text_tokens,
)
from chie.chat.agents.summaries import SummaryCache, summarise, summary_tokens
from chie.chat.events import SummaryText, Usage, total_usage
from chie.chat.models.base import ChatModel
from chie.chat.models.errors import ContextError, ModelError
from chie.chat.models.messages import ChatMessage, ToolMessage, UserMessage
from chie.chat.models.options import ToolSpec
from chie.chat.toolbox.tool import Outcome, Tool
from chie.messages.catalogue import Message

logger = logging.getLogger(__name__)

LONG = 2_000  # tokens; for shorter conversations the model's server is not asked about its context
ENOUGH = 0.5  # of what is available: the part that is left after a summary, so that the next one is some turns away
WHOLE = 0.8  # of what is available: a conversation of at most this size is sent whole although there is a summary
PAGE = (1_000, 8_000)  # characters of a result that is read again
LEAST_SCALE, MOST_SCALE = 0.6, 4.0
IMPLAUSIBLE = 0.3  # of our estimate: some servers count only what was not cached

READ_RESULT = Tool(
    name=READ_TOOL,
    server="",
    original=READ_TOOL,
    description="Reads a tool result of this conversation again that was shortened or summarised, by the id of its "
    "call. A long one comes in pages: `start` is the character to start from.",
    schema={
        "type": "object",
        "properties": {"id": {"type": "string"}, "start": {"type": "integer", "minimum": 0, "default": 0}},
        "required": ["id"],
    },
    read_only=True,
    destructive=False,
)


@dataclass(kw_only=True)
class ContextWindow:
    """Of one answer. `messages` is the whole conversation, and grows while the answer is generated."""

    model: ChatModel
    messages: list[ChatMessage]
    summary: Summary | None = None
    summaries: SummaryCache = field(default_factory=SummaryCache)
    usage: Usage | None = None  # of the summaries
    _instructions: tuple[str, Sequence[ToolSpec]] = ("", ())
    _overhead: int | None = None
    _available: int | None = None  # where the model refuses and does not name its limit
    _refused: bool = False
    _sent: list[ChatMessage] = field(default_factory=list)

    def __post_init__(self) -> None:
        """A summary of more than there is comes from elsewhere: plug-ins write their own history."""
        if self.summary and not 0 < self.summary.questions < len(question_positions(self.messages)):
            self.summary = None

    async def open(self, system: str, tools: Sequence[ToolSpec]) -> None:
        """Before each request. Asks the model's server for its limit if the conversation is long."""
        if len(tools) != len(self._instructions[1]):
            self._overhead = None
        self._instructions = system, tools
        if self.model.context is None and size(self.messages) > LONG:
            await self.model.find_context()

    @property
    def overhead(self) -> int:
        """Tokens of the instructions and the tools."""
        if self._overhead is None:
            system, tools = self._instructions
            told = [f"{tool.name}{tool.description}{json.dumps(tool.schema)}" for tool in tools]
            self._overhead = sum(map(text_tokens, [system, *told]))
        return self._overhead

    @property
    def available(self) -> int | None:
        """Tokens of the conversation that the model reads; None if that is not known."""
        if self._available is not None or self.model.context is None:
            return self._available
        return budget(self.model.context, scale=self.model.token_scale, overhead=self.overhead)

    @property
    def is_shortened(self) -> bool:
        """Whether there are results that the model may want to read again."""
        available, used = self.available, any(isinstance(message, ToolMessage) for message in self.messages)
        return (
            used and available is not None and (self._summarised(available) or size(self._view(available)) > available)
        )

    def fitted(self, *, readable: bool = False) -> list[ChatMessage]:
        available = self.available
        view = self._view(available)
        self._sent = view if available is None else fitted(view, available, readable=readable)
        return self._sent

    async def compact(self) -> AsyncGenerator[SummaryText, None]:
        """Summarise the oldest turns if the rest does not fit otherwise. What fails to be summarised is left out.
        Raises ContextError for a question that certainly does not fit."""
        questions = self._to_summarise()
        if questions and self.model.context and self._asked * LEAST_SCALE > self.model.context:
            raise self._message_too_long(self.model.context)
        if questions and (found := self.summaries.find(self.messages, questions)):
            before, self.summary = self.summary, found
            if not self._to_summarise():
                questions = 0
                yield SummaryText(type="summary", questions=found.questions, content=found.text)
            elif before and before.questions > found.questions:
                self.summary = before
        if questions:
            yield SummaryText(type="summary", questions=questions)
            self.summary = await self._summarise(self.summary or Summary(0, ""), questions)
            yield SummaryText(type="summary", questions=questions, content=self.summary.text)

    async def _summarise(self, before: Summary, questions: int) -> Summary:
        starts, available = question_positions(self.messages), self.available or 0
        part = self.messages[starts[before.questions] : starts[questions]]
        tokens = summary_tokens(available)
        logger.info(
            "summarising %d questions of the conversation for %s", questions - before.questions, self.model.name
        )
        try:
            context, scale = self.model.context, self.model.token_scale
            most = available if context is None else budget(context, scale=scale, overhead=tokens)  # no tools are sent
            piece = max(most - 2 * tokens, tokens)
            text, usage = await summarise(self.model, part, before.text, tokens=tokens, piece=piece)
        except ModelError as error:
            logger.warning("the conversation could not be summarised: %s [%s]", error.message, error.code)
            return Summary(questions, before.text)
        self.usage = total_usage(self.usage, usage)
        summary = Summary(questions, text or before.text)
        self.summaries.keep(self.messages, summary)
        return summary

    def learn(self, error: ContextError, *, started: bool) -> None:
        """The model refused what it was sent: make the next request smaller. Raises an error that names what is too
        long if that was tried, is not possible or comes too late."""
        sent, tried, self._refused = self._sent, self._refused, True
        if not (tried or started):
            logger.info("about %d tokens are too many for %s (%s)", size(sent), self.model.name, error.limit)
            self._adjust(error)
        if tried or started or not (self._to_summarise() or self.fitted() != sent):
            raise self._refusal(error) from error

    def _adjust(self, error: ContextError) -> None:
        if error.limit is None:
            self._available = size(self._sent) // 2
            return
        self.model.learn_context(error.limit)
        estimate = (size(self._sent) + self.overhead) * self.model.token_scale
        self.calibrate(error.used or (int(error.limit * 1.3) if estimate < error.limit else 0))

    def calibrate(self, counted: int) -> None:
        """The model's server has counted the tokens of the last request; ours are estimates."""
        estimate = size(self._sent) + self.overhead
        if estimate > LONG // 10 and counted > IMPLAUSIBLE * estimate:
            self.model.token_scale = min(MOST_SCALE, max(LEAST_SCALE, counted / estimate))

    def _refusal(self, error: ContextError) -> ContextError:
        """The same error, naming what is too long by itself: the question, or the tools."""
        asked, most = self._asked, (size(self._sent) + self.overhead) / 2
        limit, scale, name = error.limit or self.model.context, self.model.token_scale, self.model.name or "?"
        if limit is None or max(asked, self.overhead) < most:
            return error
        if asked >= most:
            return self._message_too_long(limit)
        count, tokens = len(self._instructions[1]), int(self.overhead * scale)
        return ContextError("models.tools_too_long", limit=limit, model=name, tools=count, tokens=tokens, context=limit)

    @property
    def _asked(self) -> int:
        """Tokens of the newest question."""
        return size([next(message for message in reversed(self.messages) if isinstance(message, UserMessage))])

    def _message_too_long(self, limit: int) -> ContextError:
        tokens = max(int(self._asked * self.model.token_scale), limit)
        model = self.model.name or "?"
        return ContextError("models.message_too_long", limit=limit, model=model, tokens=tokens, context=limit)

    def read(self, arguments: dict[str, object]) -> Outcome:
        """A page of an earlier result."""
        results = [one for message in self.messages if isinstance(message, ToolMessage) for one in message.results]
        whole = next((one.content for one in results if one.id == arguments.get("id")), None)
        start = arguments.get("start") or 0
        if whole is None or not isinstance(start, int) or start < 0:
            return Outcome.failed(Message("agents.result_unknown", ids=[one.id for one in results][-20:]))
        page = max(PAGE[0], min(PAGE[1], (self.available or PAGE[1]) // 3))
        rest = len(whole) - start - page
        more = f"\n({rest} more characters; continue with start {start + page}.)" if rest > 0 else ""
        return Outcome(whole[start : start + page] + more)

    def _view(self, available: int | None) -> list[ChatMessage]:
        if self.summary is None or (available is not None and not self._summarised(available)):
            return list(self.messages)
        return summarised(self.messages, self.summary)

    def _summarised(self, available: int) -> bool:
        """Whether the summary is needed: another model may read more."""
        return self.summary is not None and size(self.messages) > available * WHOLE

    def _to_summarise(self) -> int:
        """The number of questions that a summary must cover, or 0 if none is needed."""
        available = self.available
        if available is None:
            return 0
        view = self._view(available)
        if size(shortened(view, available)) <= available or len(question_positions(view)) < 2:
            return 0
        before = self.summary.questions if self.summary and self._summarised(available) else 0
        return before + covered(view, int(available * ENOUGH))
