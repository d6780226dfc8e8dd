"""The model of agents for which the environment configures none."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from chie.chat.models.base import ChatModel, Prompt
from chie.chat.models.chunks import Chunk
from chie.chat.models.model_parameters import Parameter
from chie.errors import ChieError


class DefaultModel(ChatModel):
    """That of the first stored endpoint, or else of a server on this machine. Decided anew before every answer, so that
    an endpoint is used as soon as it is added."""

    def __init__(self, local: ChatModel, stored: Callable[[], Awaitable[ChatModel | None]]) -> None:
        self._local = local
        self._stored = stored
        self._current = local

    @property
    def name(self) -> str | None:
        return self._current.name

    @property
    def host(self) -> str:
        return self._current.host

    @property
    def is_local(self) -> bool:
        return self._current.is_local

    @property
    def sees_images(self) -> bool | None:
        return self._current.sees_images if self.vision is None else self.vision

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return self._current.parameters

    @property
    def context(self) -> int | None:
        return self._current.context

    @context.setter
    def context(self, tokens: int | None) -> None:
        self._current.context = tokens

    @property
    def token_scale(self) -> float:
        return self._current.token_scale

    @token_scale.setter
    def token_scale(self, scale: float) -> None:
        self._current.token_scale = scale

    async def find_context(self) -> None:
        await (await self._decide()).find_context()

    def learn_context(self, tokens: int) -> None:
        self._current.learn_context(tokens)

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Chunk, None]:
        model = await self._decide()
        async with aclosing(model.stream(prompt)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def check(self) -> None:
        await (await self._decide()).check()

    async def close(self) -> None:
        """The catalogue closes the models of stored endpoints."""
        await self._local.close()

    async def _decide(self) -> ChatModel:
        try:
            self._current = await self._stored() or self._local
        except ChieError as error:
            await self._use_local(error)
        return self._current

    async def _use_local(self, stored: ChieError) -> None:
        """If no stored endpoint responds. If no local one does either, the stored one is what the user has to fix."""
        try:
            await self._local.check()
        except ChieError:
            raise stored from None
        self._current = self._local
