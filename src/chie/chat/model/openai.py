"""Any OpenAI-compatible server, by the OpenAI SDK: LM Studio, Ollama, vLLM, OpenAI and others."""

import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from chie.chat.events import Usage
from chie.chat.model.base import (
    Call,
    ChatModel,
    End,
    Message,
    ModelError,
    ModelSaid,
    Piece,
    Prompt,
    TextPiece,
    ToolSpec,
    ToolsSaid,
    UserSaid,
)

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletionChunk
    from openai.types.chat.chat_completion_chunk import ChoiceDeltaToolCall
    from openai.types.completion_usage import CompletionUsage

    from chie.chat.model.endpoint import Endpoint

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0


class OpenAIModel(ChatModel):
    """`seconds` is how long the server may be silent; `model` of None takes the first one it lists."""

    def __init__(self, endpoint: "Endpoint", model: str | None = None, *, seconds: float = 180.0) -> None:
        self._endpoint = endpoint
        self._wanted = model
        self._found: str | None = None
        self._seconds = seconds

    @property
    def name(self) -> str | None:
        return self._wanted or self._found

    async def check(self) -> None:
        self._found = await self._endpoint.first_model() if self._wanted is None else None
        if self._wanted is not None:
            await self._endpoint.models()

    async def close(self) -> None:
        if "_client" in self.__dict__:
            await self._client.close()

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        if self.name is None:
            self._found = await self._endpoint.first_model()
        calls = _Calls()
        usage: Usage | None = None
        whole = False
        with self._in_our_words():
            async with await self._client.chat.completions.create(**self._request(prompt)) as chunks:
                async for chunk in chunks:
                    usage = _usage(chunk.usage) or usage
                    text, finished = calls.read(chunk)
                    whole = whole or finished
                    if text:
                        yield TextPiece(text)
        if not whole:
            raise self._broken()
        for call in calls.whole():
            yield call
        yield End(usage)

    @cached_property
    def _client(self) -> "AsyncOpenAI":
        import httpx2
        from openai import AsyncOpenAI

        return AsyncOpenAI(
            base_url=self._endpoint.address,
            api_key=self._endpoint.api_key or "none",
            timeout=httpx2.Timeout(self._seconds, connect=CONNECT_SECONDS),
        )

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.name,
            "messages": list(_messages(prompt)),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if prompt.tools:
            request["tools"] = [_function(tool) for tool in prompt.tools]
            if not prompt.calls_allowed:
                request["tool_choice"] = "none"
        return request

    @contextmanager
    def _in_our_words(self) -> Iterator[None]:
        import openai

        try:
            yield
        except openai.APITimeoutError as error:
            raise ModelError(
                f"The model server at {self._endpoint.address} was silent for {self._seconds:g} seconds. Try again, "
                "choose a smaller model, or raise CHIE_MODEL_TIMEOUT."
            ) from error
        except openai.APIStatusError as error:
            logger.warning("%s answered %d: %s", self._endpoint.address, error.status_code, error.message)
            refused = self._endpoint.refused(error.status_code, self.name)
            self._found = None  # the model may have been unloaded: look again next time
            raise refused from error
        except openai.APIConnectionError as error:
            raise self._lost(error) from error
        except (openai.APIError, ValueError) as error:
            logger.warning("%s sent what is no answer: %s", self._endpoint.address, error)
            raise self._broken() from error

    def _lost(self, error: Exception) -> ModelError:
        import httpx2

        if isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout):
            return self._endpoint.away(error.__cause__)
        return self._broken()

    def _broken(self) -> ModelError:
        return ModelError(
            f"The model server at {self._endpoint.address} broke off in the middle of its answer. Try again; "
            "if it stays so, look at that server's log."
        )


class _Calls:
    """Puts calls together from their fragments, which servers number or name, and some do neither."""

    def __init__(self) -> None:
        self._parts: list[dict[str, str]] = []
        self._by_index: dict[int, dict[str, str]] = {}

    def read(self, chunk: "ChatCompletionChunk") -> tuple[str, bool]:
        """The text of a chunk, and whether it ends the message."""
        if not chunk.choices:
            return "", False
        choice = chunk.choices[0]
        if choice.delta is None:
            return "", choice.finish_reason is not None
        for fragment in choice.delta.tool_calls or ():
            self._add(fragment)
        return choice.delta.content or "", choice.finish_reason is not None

    def _add(self, fragment: "ChoiceDeltaToolCall") -> None:
        index = getattr(fragment, "index", len(self._parts))
        part = self._by_index.get(index)
        if part is None or (fragment.id and part["id"] and fragment.id != part["id"]):
            part = {"id": "", "name": "", "arguments": ""}
            self._by_index[index] = part
            self._parts.append(part)
        part["id"] = fragment.id or part["id"]
        if fragment.function is not None:
            part["name"] = part["name"] or fragment.function.name or ""
            part["arguments"] += fragment.function.arguments or ""

    def whole(self) -> list[Call]:
        return [Call(part["id"], part["name"], part["arguments"]) for part in self._parts]


def _messages(prompt: Prompt) -> Iterator[dict[str, Any]]:
    if prompt.system:
        yield {"role": "system", "content": prompt.system}
    for message in prompt.messages:
        yield from _message(message)


def _message(message: Message) -> Iterator[dict[str, Any]]:
    match message:
        case UserSaid(content):
            yield {"role": "user", "content": content}
        case ModelSaid(content, ()):
            yield {"role": "assistant", "content": content}
        case ModelSaid(content, calls):
            yield {"role": "assistant", "content": content or None, "tool_calls": [_call(call) for call in calls]}
        case ToolsSaid(results):
            for result in results:
                yield {"role": "tool", "tool_call_id": result.id, "content": result.content}


def _call(call: Call) -> dict[str, Any]:
    """Some servers refuse a conversation that holds broken JSON, even if the model wrote it."""
    arguments = call.arguments if call.parsed() is not None and call.arguments else "{}"
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _function(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
    }


def _usage(usage: "CompletionUsage | None") -> Usage | None:
    return Usage(input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens) if usage else None
