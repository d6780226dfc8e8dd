"""Any OpenAI-compatible server through the OpenAI SDK: LM Studio, Ollama, vLLM, OpenAI and others."""

import asyncio
import gc
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack, contextmanager
from functools import cache, cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from chie.chat.models.base import CONNECT_TIMEOUT_SECONDS, ChatModel, Prompt
from chie.chat.models.chunks import Call, Chunk, Reasoning
from chie.chat.models.errors import ContextError, ModelError
from chie.chat.models.messages import AssistantMessage, ChatMessage, Image, ToolMessage, UserMessage
from chie.chat.models.model_parameters import Parameter, is_openai_reasoning, openai_parameters
from chie.chat.models.openai_chunks import ChunkParser, ReportedError
from chie.chat.models.openai_reasoning import TAGGED
from chie.chat.models.options import ToolSpec
from chie.chat.models.provider_error import read_error
from chie.chat.models.sse import EventParser
from chie.errors import ConfigurationError
from chie.installation.commands import install_extra
from chie.logging import masked
from chie.messages.catalogue import Message

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

    from chie.chat.models.openai_endpoint import OpenAIEndpoint

logger = logging.getLogger(__name__)

PATH = "/chat/completions"
MAX_RETRIES = 2
KEEP_ALIVE_SECONDS = 60.0  # the SDK's five are over before the next question; to connect takes a tenth of a second
REMOTE_IDLE_CONNECTIONS = 100
LOCAL_IDLE_CONNECTIONS = 2  # every request checks all idle ones, which takes longer than to connect without TLS


class OpenAIModel(ChatModel):
    """`timeout` is how many seconds the server may send nothing; without `model` the first one it lists is used.
    `model_setting` is where the model comes from if it is not a setting of the endpoint."""

    def __init__(
        self,
        endpoint: "OpenAIEndpoint",
        model: str | None = None,
        *,
        timeout: float = 180.0,
        model_setting: str | Message | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._model_setting = model_setting
        self._configured_model = model
        self._listed_model: str | None = None
        self._located_url = endpoint.url
        self._asked: tuple[str, str] | None = None  # whose context the server was asked for
        self._context_of: str | None = None  # the model whose context was found; None if a setting has it
        self._timeout = timeout

    @property
    def name(self) -> str | None:
        return self._configured_model or self._listed_model

    @property
    def host(self) -> str:
        return self._endpoint.host

    @property
    def is_local(self) -> bool:
        return self._endpoint.is_local

    @property
    def sees_images(self) -> bool | None:
        """The server knows better than the name; only it can tell whether a model was loaded without its eyes."""
        listed = self._endpoint.sees_images(self.name)
        return listed if self.vision is None and listed is not None else super().sees_images

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return openai_parameters(self.name or "")

    async def check(self) -> None:
        _require_sdk()
        if self._configured_model is None:
            self._listed_model = await self._endpoint.first_model()
        else:
            await self._endpoint.models()

    async def find_context(self) -> None:
        """Once for each model of a server."""
        await self._locate()
        if self.name and self._asked != (self._endpoint.url, self.name):
            self._asked = self._endpoint.url, self.name
            self.context = await self._endpoint.context(self.name)
            self._context_of = self.name

    def learn_context(self, tokens: int) -> None:
        super().learn_context(tokens)
        self._context_of = self.name

    async def close(self) -> None:
        if "_client" in self.__dict__:
            await self._client.close()

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Chunk, None]:
        _require_sdk()
        self._endpoint.validate()
        await self._locate()
        events, answer = EventParser(), ChunkParser()
        with self._translated_errors(answer):
            client = await self._loaded_client()
            if self._located_url != self._endpoint.url:
                client.base_url = self._located_url = self._endpoint.url
            async with AsyncExitStack() as stack:
                response = await self._response(client, prompt, stack)
                async for part in response.aiter_bytes():
                    for event in events.feed(part):
                        for chunk in answer.parse(event):
                            yield chunk
            for event in events.finish():
                for chunk in answer.parse(event):
                    yield chunk
        if not answer.complete:
            raise self._interrupted(answer)
        for chunk in answer.finish():
            yield chunk
        yield answer.end()

    async def _response(self, client: "AsyncOpenAI", prompt: Prompt, stack: AsyncExitStack) -> "httpx2.Response":
        """Once more if the server has just closed an idle connection, as llama.cpp does after a hundred requests.

        As a request of our own: the SDK's method would check every value against its types.
        """
        import httpx2
        from openai import APIConnectionError, AsyncStream

        body = self._request(prompt)

        async def send() -> AsyncStream[object]:
            return await client.post(PATH, cast_to=object, body=body, stream=True, stream_cls=AsyncStream[object])

        try:
            stream = await send()
        except APIConnectionError as error:
            if not isinstance(error.__cause__, httpx2.RemoteProtocolError):
                raise
            stream = await send()
        stack.push_async_callback(stream.close)
        return stream.response

    async def _locate(self) -> None:
        """Another server than before has other models."""
        before = self._endpoint.url
        await self._endpoint.locate()
        if self._configured_model is None and (self._listed_model is None or self._endpoint.url != before):
            self._listed_model = await self._endpoint.first_model()
        if self._context_of not in (None, self.name):
            self.context = self._context_of = None
            self.token_scale = 1.0

    async def _loaded_client(self) -> "AsyncOpenAI":
        """Import the SDK in a thread: it takes a second, during which other answers continue."""
        return self._client if "_client" in self.__dict__ else await asyncio.to_thread(lambda: self._client)

    @cached_property
    def _client(self) -> "AsyncOpenAI":
        import httpx2
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        _freeze_imports()
        idle = LOCAL_IDLE_CONNECTIONS if self._endpoint.is_local else REMOTE_IDLE_CONNECTIONS
        limits = httpx2.Limits(max_keepalive_connections=idle, keepalive_expiry=KEEP_ALIVE_SECONDS)
        return AsyncOpenAI(
            base_url=self._endpoint.url,
            api_key=self._endpoint.api_key or "none",
            timeout=httpx2.Timeout(self._timeout, connect=CONNECT_TIMEOUT_SECONDS),
            # A local server that refuses a connection will not accept one half a second later.
            max_retries=0 if self._endpoint.is_local else MAX_RETRIES,
            http_client=DefaultAsyncHttpxClient(limits=limits),
        )

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.name,
            "messages": list(_messages(prompt)),
            "stream": True,
            "stream_options": {"include_usage": True},
            **self._parameters(prompt),
        }
        if prompt.tools:
            request["tools"] = [_function(tool) for tool in prompt.tools]
            if not prompt.calls_allowed:
                request["tool_choice"] = "none"
            elif prompt.call_required:
                request["tool_choice"] = "required"
        return request

    def _parameters(self, prompt: Prompt) -> dict[str, Any]:
        """Local servers know the limit on tokens by its former name, OpenAI's reasoning models by the new one only."""
        names = {"max_completion_tokens": "max_tokens"} if self._endpoint.is_local else {}
        if not self._endpoint.is_local and is_openai_reasoning(self.name or ""):
            names = {"max_tokens": "max_completion_tokens"}
        return {names.get(name, name): value for name, value in prompt.parameters.items()}

    @contextmanager
    def _translated_errors(self, answer: ChunkParser) -> Iterator[None]:
        import httpx2
        import openai

        url = self._endpoint.url
        try:
            yield
        except (openai.APITimeoutError, httpx2.TimeoutException) as error:
            if isinstance(error.__cause__, httpx2.ConnectTimeout):
                raise self._endpoint.unreachable(error.__cause__) from error
            raise self._endpoint.timed_out(self._timeout) from error
        except openai.APIStatusError as error:
            logger.warning("%s returned HTTP %d: %s", url, error.status_code, masked(error.message)[:300])
            told = read_error(error.body, error.response.headers)
            failed = self._endpoint.failed(error.status_code, self.name, error=told, model_setting=self._model_setting)
            if not isinstance(failed, ContextError):
                self._listed_model = None  # the model may have been unloaded: list again next time
            raise failed from error
        except openai.APIConnectionError as error:  # nothing was received yet
            raise self._endpoint.unreachable(error.__cause__ or error) from error
        except httpx2.InvalidURL as error:
            raise self._endpoint.unreachable(error) from error
        except ReportedError as error:
            logger.warning("%s reported an error: %s", url, masked(str(error)))
            told = read_error(error.body)
            raise self._endpoint.reported(error.codes, self.name, told, model_setting=self._model_setting) from error
        except (openai.APIError, httpx2.HTTPError, LookupError, ValueError, TypeError, AttributeError) as error:
            logger.warning("%s sent an invalid chunk: %s", url, masked(str(error)))
            raise self._interrupted(answer) from error

    def _interrupted(self, answer: ChunkParser) -> ModelError:
        return self._endpoint.interrupted() if answer.started else self._endpoint.incompatible()


@cache
def _freeze_imports() -> None:
    """The SDK stays: scanning its objects would pause all streams for 50 ms now and then. Only once: what is garbage
    at a freeze is never collected."""
    gc.freeze()


def _require_sdk() -> None:
    if find_spec("openai") is None:
        raise ConfigurationError("models.openai_sdk_missing", command=install_extra("openai"))


def _messages(prompt: Prompt) -> Iterator[dict[str, Any]]:
    if prompt.system:
        yield {"role": "system", "content": prompt.system}
    for message in prompt.messages:
        yield from _message(message)


def _message(message: ChatMessage) -> Iterator[dict[str, Any]]:
    match message:
        case UserMessage(content, ()):
            yield {"role": "user", "content": content}
        case UserMessage(content, images):
            text = [{"type": "text", "text": content}] if content.strip() else []
            yield {"role": "user", "content": [*text, *map(_image, images)]}
        case AssistantMessage(content, ()):
            yield {"role": "assistant", "content": content}
        case AssistantMessage(content, calls, reasoning):
            said = _reasoning(reasoning)
            content = said.pop(TAGGED, "") + content
            yield {"role": "assistant", "content": content or None, "tool_calls": [*map(_call, calls)], **said}
        case ToolMessage(results):
            for result in results:
                yield {"role": "tool", "tool_call_id": result.id, "content": result.content}


def _image(image: Image) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{image.base64}"}}


def _reasoning(blocks: tuple[Reasoning, ...]) -> dict[str, Any]:
    """By field. A server gets back what it has sent, with the results of the calls that it led to."""
    return {name: value for part in blocks for name, value in part.block.items()}


def _call(call: Call) -> dict[str, Any]:
    """Some servers reject a conversation that contains invalid JSON, even if the model wrote it."""
    arguments = call.arguments if call.parsed() is not None and call.arguments else "{}"
    sent = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
    return {**sent, "extra_content": call.extra} if call.extra else sent


def _function(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function if tool.strict is None else {**function, "strict": tool.strict}}
