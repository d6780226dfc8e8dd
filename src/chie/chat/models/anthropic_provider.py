"""The models of Anthropic's API. Listing them needs no SDK; the adapter comes with the plug-in `chie-agent-adk`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from chie.chat.models.base import ChatModel
from chie.chat.models.endpoint import Endpoint
from chie.chat.models.errors import ModelError
from chie.chat.models.kept_listing import KeptListing
from chie.chat.models.model_parameters import Parameter, anthropic_parameters
from chie.chat.models.provider import EndpointSpec, ModelProvider
from chie.errors import ConfigurationError
from chie.installation.commands import PLUG_IN, install_package

if TYPE_CHECKING:
    import httpx2

LIST_TIMEOUT_SECONDS = 5.0
PAGE = 1_000
VERSION = "2023-06-01"

ModelBuilder = Callable[[str, Endpoint, float], ChatModel]


class AnthropicProvider(ModelProvider):
    """`builder` returns what creates the adapter, None while the plug-in is not installed."""

    def __init__(
        self, spec: EndpointSpec, builder: Callable[[], ModelBuilder | None], *, timeout: float = 180.0
    ) -> None:
        super().__init__(spec)
        self._endpoint = Endpoint(spec.url, spec.api_key, settings=spec.settings)
        self._builder = builder
        self._timeout = timeout
        self._listing = KeptListing(self._fetch)

    def parameters(self, name: str) -> tuple[Parameter, ...]:
        return anthropic_parameters(name)

    async def _list(self) -> list[str]:
        self._installed()
        return await self._listing.get()

    def _create(self, name: str) -> ChatModel:
        return self._installed()(name, self._endpoint, self._timeout)

    def _installed(self) -> ModelBuilder:
        if builder := self._builder():
            return builder
        raise ConfigurationError("models.plug_in_missing", command=install_package(PLUG_IN))

    async def _fetch(self) -> list[str]:
        import httpx2

        self._endpoint.validate()
        if not self._endpoint.api_key:
            raise ConfigurationError("models.api_key_missing", setting=self._endpoint.settings.api_key)
        headers = {"x-api-key": self._endpoint.api_key, "anthropic-version": VERSION}
        verify = not self._endpoint.url.startswith("http://")
        try:
            async with httpx2.AsyncClient(headers=headers, timeout=LIST_TIMEOUT_SECONDS, verify=verify) as client:
                answer = await client.get(f"{self._endpoint.url}/v1/models", params={"limit": PAGE})
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._endpoint.unreachable(error) from error
        if answer.status_code != 200:
            raise self._endpoint.failed(answer.status_code)
        return self._names(answer)

    def _names(self, answer: "httpx2.Response") -> list[str]:
        try:
            return [str(entry["id"]) for entry in answer.json()["data"] if entry.get("lifecycle") != "retired"]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            url = self._endpoint.url
            raise ModelError("models.not_anthropic", url=url, setting=self._endpoint.settings.url) from error
