"""Tests an endpoint: its list of models, then a call as small as possible.

Some providers list their models to everybody, so that only a call tells whether the key is accepted, and whether the
account may use it.
"""

import asyncio
from contextlib import aclosing, suppress

from chie.chat.endpoints.endpoint import StoredEndpoint
from chie.chat.endpoints.specs import spec_of
from chie.chat.models.base import Prompt
from chie.chat.models.catalogue import ModelCatalogue
from chie.chat.models.errors import ModelError
from chie.chat.models.messages import UserMessage
from chie.chat.models.provider import ModelProvider

CALL_TIMEOUT_SECONDS = 30.0
DECISIVE_CODES = (
    "models.key_rejected",
    "models.key_forbidden",
    "models.quota_exceeded",
    "models.bedrock_access_denied",
    "models.bedrock_model_not_found",
    "models.model_not_found",
)
"""Other errors may be about this one call, such as a limit that the model does not take."""


async def try_endpoint(endpoint: StoredEndpoint, catalogue: ModelCatalogue) -> list[str]:
    """The names of its chat models. Raises a ChieError that says what is wrong."""
    async with catalogue.trial(spec_of(endpoint)) as provider:
        names, error = await provider.names()
        if error is not None:
            raise error
        if not names:
            raise ModelError("endpoints.no_models", name=endpoint.name)
        if endpoint.settings.model or (endpoint.api_key and endpoint.kind != "bedrock"):
            await _call(provider, endpoint.settings.model or names[0])
        return names


async def _call(provider: ModelProvider, name: str) -> None:
    prompt = Prompt(system="", messages=[UserMessage("Hi")], parameters={"max_completion_tokens": 16})
    model = await provider.model(name)
    with suppress(TimeoutError):  # a model that has to be loaded first
        async with asyncio.timeout(CALL_TIMEOUT_SECONDS), aclosing(model.stream(prompt)) as chunks:
            try:
                async for _ in chunks:
                    return
            except ModelError as error:
                if error.code in DECISIVE_CODES:
                    raise
