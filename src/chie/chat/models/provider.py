"""The port to an endpoint that offers models: lists their names, and creates the adapter of one."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Literal

from chie.chat.models.aws_client import AccessKeys
from chie.chat.models.base import ChatModel
from chie.chat.models.endpoint import OPENAI_VARIABLES, SettingNames
from chie.chat.models.model_names import display_name
from chie.chat.models.model_parameters import Parameter
from chie.chat.models.vision import known_model_sees
from chie.errors import ChieError, ConfigurationError, NotFoundError
from chie.messages.catalogue import Message

Kind = Literal["openai", "anthropic", "bedrock"]


@dataclass(frozen=True, kw_only=True)
class EndpointSpec:
    """How an endpoint is configured. `url` is for OpenAI-compatible servers and Anthropic, `region` for Bedrock, whose
    `api_key` is a Bedrock API key. The configured `models` are offered also if the endpoint does not list them. An
    `optional` endpoint is not shown until it has responded once. `settings` are how errors refer to its fields. One
    with a `problem` cannot be used."""

    id: str
    kind: Kind
    name: str
    url: str = ""
    api_key: str | None = field(default=None, repr=False)
    region: str = ""
    profile: str | None = None
    access_keys: AccessKeys | None = None
    models: tuple[str, ...] = ()
    optional: bool = False
    settings: SettingNames = OPENAI_VARIABLES
    problem: Message | None = None


class ModelProvider(ABC):
    """Keeps one adapter per model, which all conversations with this model share."""

    def __init__(self, spec: EndpointSpec) -> None:
        self.spec = spec
        self._known: set[str] = set(spec.models)  # names that were listed at some time
        self._responded = False
        self._models: dict[str, ChatModel] = {}

    @abstractmethod
    async def _list(self) -> list[str]:
        """The names of the chat models. Keeps them for a while; raises ChieError."""

    @abstractmethod
    def _create(self, name: str) -> ChatModel:
        """Cheap: an adapter imports its SDK on first use. Raises ChieError if there is no adapter."""

    @property
    def is_shown(self) -> bool:
        return self._responded or not self.spec.optional

    @abstractmethod
    def parameters(self, name: str) -> tuple[Parameter, ...]:
        """Those that a conversation with this model may set."""

    def sees_images(self, name: str) -> bool:
        return known_model_sees(name) is True

    async def names(self) -> tuple[list[str], ChieError | None]:
        """The models on offer, and the error if the endpoint could not be asked."""
        if self.spec.problem:
            return [], ConfigurationError(self.spec.problem)
        try:
            listed = await self._list()
        except ChieError as error:
            return list(self.spec.models), error
        self._responded = True
        self._known = {*self.spec.models, *listed}
        return list(dict.fromkeys([*listed, *self.spec.models])), None

    async def model(self, name: str) -> ChatModel:
        """NotFoundError for a model that is no longer there, and the endpoint's own error if it was never listed."""
        if self.spec.problem:
            raise ConfigurationError(self.spec.problem)
        await self._require(name)
        if name not in self._models:
            self._models[name] = self._create(name)
        return self._models[name]

    async def _require(self, name: str) -> None:
        names, error = await self.names()
        if name in names or (error is not None and name in self._known):
            return
        raise error or NotFoundError("models.choice_missing", model=display_name(name), endpoint=self.spec.name)

    async def close(self) -> None:
        for model in self._models.values():
            await model.close()
        self._models.clear()
