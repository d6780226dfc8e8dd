"""Models on Amazon Bedrock through boto3's Converse stream. boto3 blocks, so a thread of its own reads each answer."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from importlib.util import find_spec
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from chie.chat.events import Usage, counted_usage
from chie.chat.models.aws_client import AccessKeys, aws_client
from chie.chat.models.base import CONNECT_TIMEOUT_SECONDS, ChatModel, Prompt
from chie.chat.models.bedrock_cache import with_cache_points
from chie.chat.models.bedrock_errors import translate
from chie.chat.models.chunks import Call, Chunk, End, Reasoning, ReasoningDelta, TextDelta
from chie.chat.models.claude_output import output_tokens
from chie.chat.models.claude_thinking import adaptive_thinking
from chie.chat.models.endpoint import BEDROCK_VARIABLES, SettingNames
from chie.chat.models.errors import ModelError
from chie.chat.models.messages import AssistantMessage, CallResult, ChatMessage, Image, ToolMessage, UserMessage
from chie.chat.models.model_parameters import EFFORT, Parameter, bedrock_parameters
from chie.chat.models.options import ToolSpec
from chie.chat.models.parameters import translated
from chie.errors import ConfigurationError
from chie.installation.commands import install_extra
from chie.logging import masked

if TYPE_CHECKING:
    from botocore.client import BaseClient

logger = logging.getLogger(__name__)

DEFAULT_MODEL = "global.anthropic.claude-sonnet-5"
MAX_CONNECTIONS = 64
PARAMETERS = {
    "max_tokens": "maxTokens",
    "max_completion_tokens": "maxTokens",
    "temperature": "temperature",
    "top_p": "topP",
    "stop": "stopSequences",
}

Put = Callable[[Any], None]


class BedrockModel(ChatModel):
    """`timeout` is how many seconds Bedrock may send nothing. Without keys the AWS credentials are used. `settings` are
    how errors refer to all of these."""

    def __init__(
        self,
        model: str,
        *,
        region: str,
        profile: str | None = None,
        api_key: str | None = None,
        access_keys: AccessKeys | None = None,
        timeout: float = 180.0,
        settings: SettingNames = BEDROCK_VARIABLES,
    ) -> None:
        self._model = model
        self._region = region
        self._profile = profile
        self._api_key = api_key
        self._access_keys = access_keys
        self._timeout = timeout
        self._settings = settings

    @property
    def name(self) -> str | None:
        return self._model

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return bedrock_parameters(self._model)

    @property
    def host(self) -> str:
        return f"bedrock.{self._region}"

    async def check(self) -> None:
        if find_spec("boto3") is None:
            raise ConfigurationError("models.boto3_missing", command=install_extra("bedrock"))

    async def close(self) -> None:
        if "_client" in self.__dict__:
            self._client.close()

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Chunk, None]:
        await self.check()
        parser = _EventParser()
        with self._reading(self._request(prompt)) as events:
            while (event := await events.get()) is not None:
                if isinstance(event, ModelError):
                    raise event
                for chunk in parser.parse(event):
                    yield chunk
        if not parser.complete:
            raise ModelError("models.bedrock_connection_broken", region=self._region, model=self._model)
        yield parser.end()

    @contextmanager
    def _reading(self, request: dict[str, Any]) -> "Iterator[asyncio.Queue[Any]]":
        """A queue that a thread fills with events, then None or a ModelError; leaving it aborts the request."""
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[Any] = asyncio.Queue()

        def put(event: object) -> None:
            with suppress(RuntimeError):  # the loop is closed, and nothing awaits the event any more
                loop.call_soon_threadsafe(events.put_nowait, event)

        stream = _AbortableStream()
        Thread(target=self._read, args=(request, put, stream), daemon=True, name="bedrock").start()
        try:
            yield events
        finally:
            stream.abort()

    def _read(self, request: dict[str, Any], put: Put, abortable: "_AbortableStream") -> None:
        try:
            response = self._client.converse_stream(**request)  # type: ignore[attr-defined]
            with closing(response["stream"]) as stream:
                abortable.attach(stream)
                for event in stream:
                    put(event)
            put(None)
        except Exception as error:  # noqa: BLE001  the thread's outermost frame: raised again where it is awaited
            logger.warning("Amazon Bedrock in %s: %s: %s", self._region, type(error).__name__, masked(str(error)))
            names = self._settings
            put(translate(error, region=self._region, model=self._model, timeout=self._timeout, settings=names))

    @cached_property
    def _client(self) -> "BaseClient":
        return aws_client(
            "bedrock-runtime",
            region=self._region,
            profile=self._profile,
            api_key=self._api_key,
            access_keys=self._access_keys,
            connect_timeout=CONNECT_TIMEOUT_SECONDS,
            read_timeout=self._timeout,
            max_pool_connections=MAX_CONNECTIONS,
        )

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        given = dict(prompt.parameters)
        effort = given.pop(EFFORT.name, None) if EFFORT in self.parameters else None
        thinking = adaptive_thinking(self._model, effort, call_required=prompt.call_required)
        # Bedrock counts the most that an answer may have against the quota. Of models of others that is not known.
        known = {"maxTokens": output_tokens(self._model, thinking=thinking is not None, on_bedrock=True)}
        request: dict[str, Any] = {
            "modelId": self._model,
            "messages": [_message(message) for message in prompt.messages],
            "inferenceConfig": {
                **(known if "claude" in self._model.lower() else {}),
                **translated(given, PARAMETERS, model=self._model),
            },
            **_effort(self._model, effort),
        }
        if thinking:
            request["additionalModelRequestFields"] = {"thinking": thinking}
        if prompt.system:
            request["system"] = [{"text": prompt.system}]
        if prompt.tools:
            choice: dict[str, Any] = {"toolChoice": {"any": {}}} if prompt.call_required else {}
            request["toolConfig"] = {"tools": [_tool(tool) for tool in prompt.tools], **choice}
        return with_cache_points(request)


def _effort(model: str, effort: str | None) -> dict[str, Any]:
    """Converse has a field for Claude's; models of others take it under their own names."""
    if effort is None:
        return {}
    if "claude" in model:
        return {"outputConfig": {"effort": effort}}
    return {"additionalModelRequestFields": {EFFORT.name: effort}}


class _AbortableStream:
    """Ends a read that blocks in another thread. Closing the socket is not enough for that; it must be shut down."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._stream: Any = None
        self._aborted = False

    def attach(self, stream: object) -> None:
        with self._lock:
            self._stream = stream
        if self._aborted:
            self.abort()

    def abort(self) -> None:
        with self._lock, suppress(ValueError, OSError, AttributeError):  # it may have ended already
            self._aborted = True
            self._stream._raw_stream.shutdown()  # noqa: SLF001  urllib3's method, which botocore does not expose


TRUNCATED_REASONS = ("max_tokens", "model_context_window_exceeded")
FILTERED_REASONS = ("guardrail_intervened", "content_filtered")


class _EventParser:
    """Turns Converse's events into chunks. Text blocks have no start event; a call's input comes in JSON fragments."""

    def __init__(self) -> None:
        self.complete = False
        self._stop_reason: str | None = None
        self._usage: Usage | None = None
        self._calls: dict[int, Call] = {}
        self._reasoning: dict[int, dict[str, Any]] = {}

    def end(self) -> End:
        reason = self._stop_reason
        return End(self._usage, truncated=reason in TRUNCATED_REASONS, filtered=reason in FILTERED_REASONS)

    def parse(self, event: dict[str, Any]) -> Iterator[Chunk]:
        match event:
            case {"contentBlockDelta": {"delta": {"text": text}}} if text:
                yield TextDelta(text)
            case {"contentBlockStart": {"contentBlockIndex": index, "start": {"toolUse": use}}}:
                self._calls[index] = Call(use["toolUseId"], use["name"], "")
            case {"contentBlockDelta": {"contentBlockIndex": index, "delta": {"toolUse": {"input": part}}}}:
                call = self._calls[index]
                self._calls[index] = Call(call.id, call.name, call.arguments + part)
            case {"contentBlockDelta": {"contentBlockIndex": index, "delta": {"reasoningContent": part}}}:
                self._add_reasoning(index, part)
                if text := part.get("text"):
                    yield ReasoningDelta(text)
            case {"contentBlockStop": {"contentBlockIndex": index}}:
                yield from self._finish(index)
            case {"messageStop": stop}:
                self.complete = True
                self._stop_reason = stop.get("stopReason")
            case {"metadata": {"usage": usage}}:
                self._usage = _usage(usage)

    def _add_reasoning(self, index: int, part: dict[str, Any]) -> None:
        block = self._reasoning.setdefault(index, {})
        for name, value in part.items():
            block[name] = block[name] + value if name in block else value

    def _finish(self, index: int) -> Iterator[Chunk]:
        if index in self._calls:
            yield self._calls.pop(index)
        if index in self._reasoning:
            block = self._reasoning.pop(index)
            redacted = block.pop("redactedContent", None)
            # The text is required, also of thinking that Bedrock did not show.
            yield Reasoning({"redactedContent": redacted} if redacted else {"reasoningText": {"text": "", **block}})


def _usage(usage: dict[str, int]) -> Usage:
    """What was read from the cache, or written to it, is not among the input tokens."""
    cached, written = usage.get("cacheReadInputTokens", 0), usage.get("cacheWriteInputTokens", 0)
    return counted_usage(usage["inputTokens"] + cached + written, usage["outputTokens"], cached, written=written)


def _message(message: ChatMessage) -> dict[str, Any]:
    match message:
        case UserMessage(content, images):
            text = [{"text": content}] if content.strip() else []
            return {"role": "user", "content": [*map(_image, images), *text]}
        case AssistantMessage(content, calls, reasoning):
            text = [{"text": content}] if content.strip() else []  # Bedrock rejects blank blocks
            blocks = [{"reasoningContent": part.block} for part in reasoning]
            return {"role": "assistant", "content": [*blocks, *text, *map(_call, calls)]}
        case ToolMessage(results):
            return {"role": "user", "content": [_result(result) for result in results]}


def _image(image: Image) -> dict[str, Any]:
    """boto3 encodes the bytes itself."""
    return {"image": {"format": image.media_type.removeprefix("image/"), "source": {"bytes": image.data}}}


def _call(call: Call) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.parsed() or {}}}


def _result(result: CallResult) -> dict[str, Any]:
    status = "error" if result.is_error else "success"
    return {"toolResult": {"toolUseId": result.id, "content": [{"text": result.content}], "status": status}}


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {"toolSpec": {"name": tool.name, "description": tool.description, "inputSchema": {"json": tool.schema}}}
