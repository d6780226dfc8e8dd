"""The models of an OpenAI-compatible endpoint."""

from chie.chat.models.model_parameters import Parameter, openai_parameters
from chie.chat.models.openai import OpenAIModel
from chie.chat.models.openai_endpoint import OpenAIEndpoint
from chie.chat.models.provider import EndpointSpec, ModelProvider


class OpenAIProvider(ModelProvider):
    """Shares the endpoint, and with it the list of models, with agents that use it without a choice."""

    def __init__(self, spec: EndpointSpec, endpoint: OpenAIEndpoint | None = None, *, timeout: float = 180.0) -> None:
        super().__init__(spec)
        self._endpoint = endpoint or OpenAIEndpoint(spec.url, spec.api_key, settings=spec.settings)
        self._timeout = timeout

    def parameters(self, name: str) -> tuple[Parameter, ...]:
        return openai_parameters(name)

    async def _list(self) -> list[str]:
        return await self._endpoint.models()

    def _create(self, name: str) -> OpenAIModel:
        return OpenAIModel(self._endpoint, name, timeout=self._timeout)

    def sees_images(self, name: str) -> bool:
        listed = self._endpoint.sees_images(name)
        return super().sees_images(name) if listed is None else listed
