"""Every model that conversations may choose: `<endpoint id>/<model name>`, from all endpoints known to the app."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from chie.chat.models.base import ChatModel
from chie.chat.models.model_names import display_name
from chie.chat.models.model_parameters import Parameter
from chie.chat.models.provider import EndpointSpec, Kind, ModelProvider
from chie.errors import ChieError, NotFoundError
from chie.messages.catalogue import Message

StoredEndpoints = Callable[[], Awaitable[Sequence[EndpointSpec]]]


@dataclass(frozen=True, kw_only=True)
class ListedModel:
    """`id` is the reference that a conversation stores, `name` what people read."""

    id: str
    name: str
    sees_images: bool
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, kw_only=True)
class ListedEndpoint:
    """One that fails has the reason, and the models that are configured for it."""

    id: str
    name: str
    kind: Kind
    models: list[ListedModel]
    error: Message | None = None


class ModelCatalogue:
    """`fixed` are the endpoints of the environment, which win over a stored one of the same id. `create` makes the
    provider of a stored endpoint."""

    def __init__(
        self,
        fixed: Iterable[ModelProvider] = (),
        create: Callable[[EndpointSpec], ModelProvider] | None = None,
    ) -> None:
        self._fixed = {provider.spec.id: provider for provider in fixed}
        self._create = create
        self._source: StoredEndpoints | None = None
        self._stored: dict[str, ModelProvider] = {}
        self._gone: list[ModelProvider] = []  # an answer may still be running on one of them
        self._refreshing = asyncio.Lock()

    def use(self, source: StoredEndpoints) -> None:
        """Read further endpoints from here before every listing and choice, so that a change counts at once."""
        self._source = source

    async def models(self) -> list[ListedEndpoint]:
        """In the order of the endpoints; one that fails hides no other."""
        providers = await self._providers()
        listed = await asyncio.gather(*map(_listed, providers.values()))
        shown = zip(providers.values(), listed, strict=True)
        return [endpoint for provider, endpoint in shown if provider.is_shown]

    async def model(self, reference: str) -> ChatModel:
        """The adapter, which is shared. NotFoundError if the endpoint or the model is no longer there."""
        endpoint_id, _, name = reference.partition("/")
        provider = (await self._providers()).get(endpoint_id)
        if provider is None or not name:
            raise NotFoundError("models.endpoint_missing", model=display_name(name or reference))
        return await provider.model(name)

    async def stored_default(self) -> ChatModel | None:
        """The model of the first stored endpoint that responds: its configured one, or the first that it lists. None
        if none is stored; the error of the first if none responds."""
        await self._providers()
        first_error: ChieError | None = None
        for provider in list(self._stored.values()):  # another request may refresh them meanwhile
            names, error = await provider.names()
            if error is None and names:
                return await provider.model(next(iter(provider.spec.models), names[0]))
            first_error = first_error or error
        if first_error is not None:
            raise first_error
        return None

    @asynccontextmanager
    async def trial(self, spec: EndpointSpec) -> AsyncIterator[ModelProvider]:
        """A provider of its own, to test an endpoint with; nothing is kept of it."""
        if self._create is None:
            raise NotFoundError("models.endpoint_missing", model=spec.name)
        provider = self._create(spec)
        try:
            yield provider
        finally:
            await provider.close()

    async def close(self) -> None:
        for provider in [*self._fixed.values(), *self._stored.values(), *self._gone]:
            await provider.close()

    async def _providers(self) -> dict[str, ModelProvider]:
        if self._source is not None:
            async with self._refreshing:
                self._refresh(await self._source())
        return {**self._stored, **self._fixed} if self._stored else self._fixed

    def _refresh(self, specs: Sequence[EndpointSpec]) -> None:
        """Keeps the providers whose spec has not changed; those that are gone are closed with the app."""
        before, self._stored = self._stored, {}
        for spec in specs:
            kept = before.get(spec.id)
            if kept is not None and kept.spec == spec:
                self._stored[spec.id] = before.pop(spec.id)
            elif self._create is not None:
                self._stored[spec.id] = self._create(spec)
        self._gone += before.values()


def reference(endpoint_id: str, name: str) -> str:
    return f"{endpoint_id}/{name}"


async def _listed(provider: ModelProvider) -> ListedEndpoint:
    names, error = await provider.names()
    spec = provider.spec
    models = [
        ListedModel(
            id=reference(spec.id, name),
            name=display_name(name),
            sees_images=provider.sees_images(name),
            parameters=provider.parameters(name),
        )
        for name in names
    ]
    return ListedEndpoint(id=spec.id, name=spec.name, kind=spec.kind, models=models, error=_reason(error))


def _reason(error: ChieError | None) -> Message | None:
    return error.reason if error else None
