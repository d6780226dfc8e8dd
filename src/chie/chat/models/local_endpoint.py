"""The model servers that people run on their own machine, found without configuration."""

import asyncio
from collections.abc import Sequence

from chie.chat.models.errors import ModelError
from chie.chat.models.openai_endpoint import OpenAIEndpoint

UNREACHABLE = "models.local_server_unreachable"


class LocalEndpoint(OpenAIEndpoint):
    """The first of several servers that has a chat model. A server may be started, or stopped, at any time."""

    def __init__(self, urls: Sequence[str]) -> None:
        super().__init__(urls[0])
        self._servers = [OpenAIEndpoint(url) for url in urls]

    @property
    def servers(self) -> list[OpenAIEndpoint]:
        return list(self._servers)

    async def models(self) -> list[str]:
        """Sets `url` to the server that has them."""
        found = await asyncio.gather(*(server.models_or_error() for server in self._servers))
        responding = [
            (server.url, models)
            for server, models in zip(self._servers, found, strict=True)
            if not isinstance(models, ModelError)
        ]
        if not responding:
            raise self._error([error for error in found if isinstance(error, ModelError)])
        self.url, models = max(responding, key=lambda one: bool(one[1]))  # the first with models, or the first
        return models

    def sees_images(self, model: str | None) -> bool | None:
        return next((server.sees_images(model) for server in self._servers if server.url == self.url), None)

    async def context(self, model: str) -> int | None:
        return await next(server for server in self._servers if server.url == self.url).context(model)

    async def locate(self) -> None:
        await self.models()

    def _error(self, errors: Sequence[ModelError]) -> ModelError:
        """A server that responds with an error explains more than one that does not run."""
        explained = next((error for error in errors if error.code != UNREACHABLE), None)
        urls = [server.url for server in self._servers]
        return explained or ModelError("models.no_local_server", urls=urls, setting=self.settings.url)
