"""A chat model on the Anthropic SDK."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from chie.chat.events import counted_usage
from chie.chat.models.base import CONNECT_TIMEOUT_SECONDS, ChatModel, Prompt
from chie.chat.models.chunks import Call, Chunk, End, Reasoning, ReasoningDelta, TextDelta
from chie.chat.models.claude_output import output_tokens
from chie.chat.models.claude_thinking import OUTPUT_TOKENS, adaptive_thinking
from chie.chat.models.context_length import context_length
from chie.chat.models.endpoint import Endpoint, SettingNames
from chie.chat.models.errors import ModelError
from chie.chat.models.messages import AssistantMessage, CallResult, ChatMessage, Image, ToolMessage, UserMessage
from chie.chat.models.model_parameters import Parameter, anthropic_parameters, takes_thinking_budget
from chie.chat.models.options import ToolSpec
from chie.chat.models.parameters import translated
from chie.chat.models.provider_error import read_error
from chie.errors import ConfigurationError
from chie.installation.commands import install_package
from chie.logging import masked
from chie_agent_adk.prompt_cache import with_cache_marks

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

logger = logging.getLogger(__name__)

DEFAULT_URL = "https://api.anthropic.com"
SETTING_NAMES = SettingNames("`ANTHROPIC_BASE_URL`", "`ANTHROPIC_API_KEY`", "`CHIE_ANTHROPIC_MODEL`")
PARAMETERS = {
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "stop": "stop_sequences",
    "reasoning_effort": "effort",
    "response_format": "format",
}
THINKING_TOKENS = {"low": 2_048, "medium": 8_192, "high": 16_384}  # for models that know no effort
TRUNCATED_REASONS = ("max_tokens", "model_context_window_exceeded")

CONTEXT_TIMEOUT_SECONDS = 3.0

_STATUS_BY_ERROR_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class AnthropicModel(ChatModel):
    """`timeout` is how many seconds the server may send nothing."""

    def __init__(self, model: str, endpoint: Endpoint, *, timeout: float = 180.0) -> None:
        self._model = model
        self._endpoint = endpoint
        self._timeout = timeout
        self._context_asked = False

    @property
    def name(self) -> str | None:
        return self._model

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return anthropic_parameters(self._model)

    @property
    def host(self) -> str:
        return self._endpoint.host

    @property
    def is_local(self) -> bool:
        return self._endpoint.is_local

    async def check(self) -> None:
        if find_spec("anthropic") is None:
            raise ConfigurationError("models.anthropic_sdk_missing", command=install_package("anthropic"))
        if not self._endpoint.api_key:
            raise ConfigurationError("models.api_key_missing", setting=self._endpoint.settings.api_key)
        self._endpoint.validate()

    async def find_context(self) -> None:
        """Asked once: a server that does not say it, such as a gateway, will not say it later either."""
        if self._context_asked:
            return
        self._context_asked = True
        await self.check()
        client = (await self._loaded_client()).with_options(timeout=CONTEXT_TIMEOUT_SECONDS, max_retries=0)
        self.context = await _context(client, self._model)

    async def close(self) -> None:
        if "_client" in self.__dict__:
            await self._client.close()

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Chunk, None]:
        await self.check()
        parser = _EventParser()
        client = await self._loaded_client()
        with self._translated_errors():
            async with await client.messages.create(**self._request(prompt)) as events:
                async for event in events:
                    for chunk in parser.parse(event):
                        yield chunk
        if not parser.complete:
            raise self._endpoint.interrupted()
        yield parser.end()

    async def _loaded_client(self) -> "AsyncAnthropic":
        """Import the SDK in a thread: it takes a second, during which other answers continue."""
        return self._client if "_client" in self.__dict__ else await asyncio.to_thread(lambda: self._client)

    @cached_property
    def _client(self) -> "AsyncAnthropic":
        import httpx2
        from anthropic import AsyncAnthropic

        timeout = httpx2.Timeout(self._timeout, connect=CONNECT_TIMEOUT_SECONDS)
        return AsyncAnthropic(api_key=self._endpoint.api_key, base_url=self._endpoint.url, timeout=timeout)

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self._model,
            "messages": [_message(message) for message in prompt.messages],
            "max_tokens": output_tokens(self._model, thinking=False),
            "stream": True,
            **self._parameters(prompt),
        }
        if prompt.system:
            request["system"] = prompt.system
        if prompt.tools:
            request["tools"] = [_tool(tool) for tool in prompt.tools]
            if not prompt.calls_allowed:
                request["tool_choice"] = {"type": "none"}
            elif prompt.call_required:
                request["tool_choice"] = {"type": "any"}
        return with_cache_marks(request)

    def _parameters(self, prompt: Prompt) -> dict[str, Any]:
        """Current models take no temperature; effort and format belong to the output."""
        asked = dict(prompt.parameters)
        effort = asked.get("reasoning_effort")
        budget = THINKING_TOKENS.get(asked.pop("reasoning_effort", "")) if takes_thinking_budget(self._model) else None
        given = translated(asked, PARAMETERS, model=self._model)
        if thinking := adaptive_thinking(self._model, effort, call_required=prompt.call_required):
            given = {"max_tokens": OUTPUT_TOKENS, **given, "thinking": thinking}
        if budget:
            given["thinking"] = {"type": "enabled", "budget_tokens": budget}
            given["max_tokens"] = budget + given.get("max_tokens", output_tokens(self._model, thinking=False))
        output = {name: given.pop(name) for name in ("effort", "format") if name in given}
        if "format" in output:
            output["format"] = _format(output["format"], self._model)
        return {**given, "output_config": output} if output else given

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        import anthropic
        import httpx2

        try:
            yield
        except (anthropic.APITimeoutError, httpx2.ReadTimeout) as error:
            raise self._endpoint.timed_out(self._timeout) from error
        except anthropic.APIStatusError as error:
            logger.warning("Anthropic returned HTTP %d: %s", error.status_code, masked(error.message)[:300])
            told = read_error(error.body, error.response.headers)
            raise self._endpoint.failed(_status(error), self._model, error=told) from error
        except anthropic.APIConnectionError as error:
            raise self._endpoint.unreachable(error.__cause__ or error) from error
        except (httpx2.HTTPError, ValueError) as error:
            raise self._endpoint.interrupted() from error


async def _context(client: "AsyncAnthropic", model: str) -> int | None:
    from anthropic import AnthropicError

    try:
        return context_length((await client.models.retrieve(model)).model_dump())
    except (AnthropicError, ValueError, TypeError, AttributeError) as error:
        logger.info("the context of %s is not known: %s", model, type(error).__name__)
        return None


def _status(error: Any) -> int:  # noqa: ANN401
    """An error within a stream has the stream's status 200; its type is in the body."""
    body = error.body if isinstance(error.body, dict) else {}
    kind = (body.get("error") or {}).get("type", "")
    status: int = _STATUS_BY_ERROR_TYPE.get(kind, error.status_code)
    return status


class _EventParser:
    """Turns the SDK's events into chunks; a call's input arrives as JSON fragments."""

    def __init__(self) -> None:
        self.complete = False
        self._stop_reason: str | None = None
        self._input_tokens = 0
        self._cached_tokens = 0
        self._written_tokens = 0
        self._output_tokens = 0
        self._calls: dict[int, Call] = {}
        self._reasoning: dict[int, dict[str, Any]] = {}

    def end(self) -> End:
        counts = (self._input_tokens, self._output_tokens, self._cached_tokens)
        usage = counted_usage(*counts, written=self._written_tokens)
        reason = self._stop_reason
        return End(usage, truncated=reason in TRUNCATED_REASONS, filtered=reason == "refusal")

    def parse(self, event: Any) -> Iterator[Chunk]:  # noqa: ANN401
        match event.type:
            case "message_start":
                self._count(event.message.usage)
            case "content_block_start":
                self._start(event.index, event.content_block)
            case "content_block_delta":
                yield from self._delta(event.index, event.delta)
            case "content_block_stop":
                yield from self._finish(event.index)
            case "message_delta":
                self._output_tokens = (event.usage and event.usage.output_tokens) or self._output_tokens
                self._stop_reason = event.delta.stop_reason
            case "message_stop":
                self.complete = True

    def _count(self, usage: Any) -> None:  # noqa: ANN401
        """What was read from the cache, or written to it, is not among the input tokens."""
        self._cached_tokens = usage.cache_read_input_tokens or 0
        self._written_tokens = usage.cache_creation_input_tokens or 0
        self._input_tokens = usage.input_tokens + self._cached_tokens + self._written_tokens

    def _start(self, index: int, block: Any) -> None:  # noqa: ANN401
        if block.type == "tool_use":
            self._calls[index] = Call(block.id, block.name, "")
        elif block.type in ("thinking", "redacted_thinking"):
            self._reasoning[index] = block.model_dump(exclude_none=True)

    def _delta(self, index: int, delta: Any) -> Iterator[Chunk]:  # noqa: ANN401
        match delta.type:
            case "text_delta" if delta.text:
                yield TextDelta(delta.text)
            case "input_json_delta":
                call = self._calls[index]
                self._calls[index] = Call(call.id, call.name, call.arguments + delta.partial_json)
            case "thinking_delta":
                self._reasoning[index]["thinking"] += delta.thinking
                yield ReasoningDelta(delta.thinking)
            case "signature_delta":
                self._reasoning[index]["signature"] = delta.signature

    def _finish(self, index: int) -> Iterator[Chunk]:
        if index in self._calls:
            yield self._calls.pop(index)
        if index in self._reasoning:
            yield Reasoning(self._reasoning.pop(index))


def _message(message: ChatMessage) -> dict[str, Any]:
    match message:
        case UserMessage(content, ()):
            return {"role": "user", "content": content}
        case UserMessage(content, images):
            text = [{"type": "text", "text": content}] if content.strip() else []
            return {"role": "user", "content": [*map(_image, images), *text]}
        case AssistantMessage(content, calls, reasoning):
            text = [{"type": "text", "text": content}] if content.strip() else []  # Anthropic rejects blank blocks
            blocks = [part.block for part in reasoning]
            return {"role": "assistant", "content": [*blocks, *text, *map(_call, calls)]}
        case ToolMessage(results):
            return {"role": "user", "content": [_result(result) for result in results]}


def _image(image: Image) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": image.base64}}


def _call(call: Call) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.parsed() or {}}


def _result(result: CallResult) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_use_id": result.id,
        "content": result.content,
        "is_error": result.is_error,
    }


def _format(given: dict[str, Any], model: str) -> dict[str, Any]:
    match given:
        case {"type": "json_schema", "json_schema": {"schema": schema}}:
            return {"type": "json_schema", "schema": schema}
    raise ModelError("models.parameters_unsupported", names=["response_format"], model=model)


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
