"""The models of Amazon Bedrock in one region: inference profiles, then models that run on demand."""

import asyncio
import logging
from importlib.util import find_spec
from typing import Any

from chie.chat.models.aws_client import aws_client
from chie.chat.models.base import CONNECT_TIMEOUT_SECONDS
from chie.chat.models.bedrock import BedrockModel
from chie.chat.models.bedrock_errors import translate
from chie.chat.models.errors import ModelError
from chie.chat.models.kept_listing import KeptListing
from chie.chat.models.model_parameters import Parameter, bedrock_parameters
from chie.chat.models.provider import EndpointSpec, ModelProvider
from chie.errors import ConfigurationError
from chie.installation.commands import install_extra
from chie.logging import masked
from chie.setup.chat_models import chat_models

logger = logging.getLogger(__name__)

LIST_TIMEOUT_SECONDS = 8.0
LISTING = "ListFoundationModels"  # takes the place of the model in messages
DENIED = "models.bedrock_access_denied"


class BedrockProvider(ModelProvider):
    def __init__(self, spec: EndpointSpec, *, timeout: float = 180.0) -> None:
        super().__init__(spec)
        self._timeout = timeout
        self._listing = KeptListing(self._fetch)

    def parameters(self, name: str) -> tuple[Parameter, ...]:
        return bedrock_parameters(name)

    async def _list(self) -> list[str]:
        return await self._listing.get()

    def _create(self, name: str) -> BedrockModel:
        spec = self.spec
        return BedrockModel(
            name,
            region=spec.region,
            profile=spec.profile,
            api_key=spec.api_key,
            access_keys=spec.access_keys,
            timeout=self._timeout,
            settings=spec.settings,
        )

    async def _fetch(self) -> list[str]:
        if find_spec("boto3") is None:
            raise ConfigurationError("models.boto3_missing", command=install_extra("bedrock"))
        return await asyncio.to_thread(self._fetch_blocking)

    def _fetch_blocking(self) -> list[str]:
        region = self.spec.region
        try:
            names = self._names()
        except Exception as error:
            failed = translate(
                error,
                region=region,
                model=LISTING,
                timeout=LIST_TIMEOUT_SECONDS,
                settings=self.spec.settings,
            )
            logger.warning(
                "cannot list the models of Amazon Bedrock in %s: %s: %s",
                region,
                type(error).__name__,
                masked(str(error)),
            )
            raise _listing_error(failed, region) from error
        return chat_models(names)

    def _names(self) -> list[str]:
        client: Any = aws_client(
            "bedrock",
            region=self.spec.region,
            profile=self.spec.profile,
            api_key=self.spec.api_key,
            access_keys=self.spec.access_keys,
            connect_timeout=CONNECT_TIMEOUT_SECONDS,
            read_timeout=LIST_TIMEOUT_SECONDS,
            retries={"total_max_attempts": 1},
        )
        try:
            models = client.list_foundation_models(byOutputModality="TEXT", byInferenceType="ON_DEMAND")
            profiles = client.get_paginator("list_inference_profiles").paginate()
            found = [one["inferenceProfileId"] for page in profiles for one in page["inferenceProfileSummaries"]]
            return [*found, *(model["modelId"] for model in models["modelSummaries"] if _streams(model))]
        finally:
            client.close()


def _streams(model: dict[str, Any]) -> bool:
    active = model.get("modelLifecycle", {}).get("status", "ACTIVE") == "ACTIVE"
    return active and model.get("responseStreamingSupported") is not False


def _listing_error(error: ModelError, region: str) -> ModelError:
    """A role that may use models may not be allowed to list them."""
    if error.code == DENIED:
        return ModelError("models.bedrock_list_denied", region=region)
    return error
