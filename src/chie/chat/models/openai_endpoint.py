"""An OpenAI-compatible endpoint: whether it responds and what it lists. Uses no SDK, which is slow to import."""

import asyncio
from collections.abc import Iterable
from time import monotonic
from typing import TYPE_CHECKING, Any

from chie.chat.models.context_length import context_lengths, native_context
from chie.chat.models.endpoint import OPENAI_VARIABLES, Endpoint, SettingNames
from chie.chat.models.errors import ModelError
from chie.chat.models.provider_error import UNKNOWN, ProviderError
from chie.chat.models.vision import listed_model_sees
from chie.messages.catalogue import Message
from chie.setup.chat_models import chat_models, listed_model_chats

if TYPE_CHECKING:
    import httpx2

LIST_TIMEOUT_SECONDS = 3.0
CONTEXT_TIMEOUT_SECONDS = 1.0
CACHE_SECONDS = 5.0
REMOTE_CACHE_SECONDS = 60.0  # pages ask often whether a local server still responds
OPENAI_HOST = "api.openai.com"
ERROR_CACHE_SECONDS = 1.0  # a server that was just started is used at once

_STATUS_BY_ERROR_CODE: dict[object, int] = {
    "context_length_exceeded": 413,
    "exceed_context_size_error": 413,
    "insufficient_quota": 429,
    "invalid_api_key": 401,
    "model_not_found": 404,
    "rate_limit_exceeded": 429,
}


class OpenAIEndpoint(Endpoint):
    """Shared by all agents with the same URL and key, so that the list of models is fetched once for all."""

    def __init__(self, url: str, api_key: str | None = None, *, settings: SettingNames = OPENAI_VARIABLES) -> None:
        super().__init__(url, api_key, settings=settings)
        self._fetching = asyncio.Lock()
        self._fetched: list[str] | ModelError = []
        self._fetched_at = float("-inf")
        self._contexts: dict[str, int] = {}
        self._listed_sight: dict[str, bool] = {}

    async def models(self) -> list[str]:
        """Names of the chat models in the server's order, at most `CACHE_SECONDS` old, or those of a remote server."""
        found = await self.models_or_error()
        if isinstance(found, ModelError):
            raise found
        return found

    async def models_or_error(self) -> list[str] | ModelError:
        """Errors are kept for a moment too, so that many agents do not pay the same timeout one after another."""
        self.validate()
        async with self._fetching:
            listed = CACHE_SECONDS if self.is_local else REMOTE_CACHE_SECONDS
            kept = ERROR_CACHE_SECONDS if isinstance(self._fetched, ModelError) else listed
            if monotonic() - self._fetched_at > kept:
                self._fetched = await self._fetch_or_error()
                self._fetched_at = monotonic()
        return self._fetched

    async def context(self, model: str) -> int | None:
        """How many tokens the model reads, if the server says so."""
        await self.models_or_error()
        if model in self._contexts or not self._may_have_more:
            return self._contexts.get(model)
        async with self._client(CONTEXT_TIMEOUT_SECONDS) as client:
            return await native_context(client, self.url.removesuffix("/v1"), model)

    @property
    def _may_have_more(self) -> bool:
        return self.host != OPENAI_HOST and not isinstance(self._fetched, ModelError)

    async def locate(self) -> None:
        """Before a request: find the server, for an endpoint whose URL is not fixed."""

    async def first_model(self) -> str:
        models = await self.models()
        if not models:
            raise ModelError("models.no_chat_model", url=self.url, setting=self.settings.model)
        return models[0]

    async def _fetch_or_error(self) -> list[str] | ModelError:
        try:
            return await self._fetch()
        except ModelError as error:
            return error

    async def _fetch(self) -> list[str]:
        import httpx2

        try:
            async with self._client(LIST_TIMEOUT_SECONDS) as client:
                answer = await client.get(f"{self.url}/models")
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self.unreachable(error) from error
        if answer.status_code != 200:
            raise self.failed(answer.status_code)
        return self._chat_models(answer)

    def _client(self, seconds: float) -> "httpx2.AsyncClient":
        import httpx2

        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        verify = not self.url.startswith("http://")  # loading the certificates would block the event loop for nothing
        return httpx2.AsyncClient(headers=headers, timeout=seconds, verify=verify)

    def _chat_models(self, answer: "httpx2.Response") -> list[str]:
        try:
            listed = answer.json()
            listed = {"data": listed} if isinstance(listed, list) else listed  # Together sends the entries alone
            names = [str(entry["id"]) for entry in listed["data"] if listed_model_chats(entry) is not False]
            self._listed_sight = _listed_sight(listed)
            self._contexts = context_lengths(listed)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self.incompatible() from error
        return chat_models(names, openai=self.host == OPENAI_HOST)

    def sees_images(self, model: str | None) -> bool | None:
        """Whether the server's list, as last fetched, says that the model reads images."""
        return self._listed_sight.get(model) if model else None

    def incompatible(self) -> ModelError:
        return ModelError("models.not_openai_compatible", url=self.url, setting=self.settings.url)

    def reported(
        self,
        codes: Iterable[str | int],
        model: str | None,
        error: ProviderError = UNKNOWN,
        *,
        model_setting: str | Message | None = None,
    ) -> ModelError:
        """For an error object in the body or the stream. The server's own text may hold secrets and is not shown.
        Gateways send statuses as texts, too."""
        for code in codes:
            status = _STATUS_BY_ERROR_CODE.get(code, int(code) if str(code).isdecimal() else code)
            if isinstance(status, int) and 400 <= status < 600:
                return self.failed(status, model, reported=code, error=error, model_setting=model_setting)
        if error.cause:
            return self.failed(400, model, error=error, model_setting=model_setting)
        return ModelError("models.unknown_error", url=self.url)


def _listed_sight(listed: dict[str, Any]) -> dict[str, bool]:
    """By model. llama.cpp has a second list, with what its models are capable of."""
    others = listed.get("models")
    entries = [*(others if isinstance(others, list) else ()), *listed["data"]]
    found = [(entry.get("id") or entry.get("model"), listed_model_sees(entry)) for entry in entries]
    return {str(name): sees for name, sees in found if name and sees is not None}
