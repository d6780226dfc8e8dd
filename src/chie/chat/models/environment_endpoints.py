"""The endpoints that the environment configures, or that are found on this machine."""

from collections.abc import Callable
from urllib.parse import urlsplit

from chie.chat.models.anthropic_provider import AnthropicProvider, ModelBuilder
from chie.chat.models.aws_client import has_aws_credentials
from chie.chat.models.bedrock import DEFAULT_MODEL
from chie.chat.models.bedrock_provider import BedrockProvider
from chie.chat.models.endpoint import ANTHROPIC_VARIABLES, BEDROCK_VARIABLES
from chie.chat.models.local_endpoint import LocalEndpoint
from chie.chat.models.openai_endpoint import OpenAIEndpoint
from chie.chat.models.openai_provider import OpenAIProvider
from chie.chat.models.provider import EndpointSpec, ModelProvider
from chie.chat.settings import OPENAI, ChatSettings
from chie.setup.local_servers import urls_on

ANTHROPIC = "https://api.anthropic.com"
LOCAL_SERVERS = (("lm-studio", "LM Studio"), ("ollama", "Ollama"))  # in the order of their URLs


def environment_providers(
    settings: ChatSettings, common: OpenAIEndpoint, anthropic: Callable[[], ModelBuilder | None]
) -> list[ModelProvider]:
    """`common` is the endpoint of agents that have none of their own. The ids are those of the setup page."""
    found = _openai(settings, common)
    timeout = settings.chie_model_timeout
    if settings.anthropic_api_key:
        found.append(AnthropicProvider(_anthropic(settings), anthropic, timeout=timeout))
    if settings.chie_aws_model or settings.aws_profile or has_aws_credentials():
        found.append(BedrockProvider(_bedrock(settings), timeout=timeout))
    return found


def _openai(settings: ChatSettings, common: OpenAIEndpoint) -> list[ModelProvider]:
    timeout = settings.chie_model_timeout
    if isinstance(common, LocalEndpoint):
        named = zip(LOCAL_SERVERS, common.servers, strict=True)
        specs = [(EndpointSpec(id=i, kind="openai", name=n, url=one.url, optional=True), one) for (i, n), one in named]
        return [OpenAIProvider(spec, endpoint, timeout=timeout) for spec, endpoint in specs]
    endpoint_id, name = _identity(common.url, settings.chie_model_host)
    models = (settings.chie_model,) if settings.chie_model else ()
    spec = EndpointSpec(id=endpoint_id, kind="openai", name=name, url=common.url, models=models)
    return [OpenAIProvider(spec, common, timeout=timeout)]


def _identity(url: str, local_host: str) -> tuple[str, str]:
    if url == OPENAI:
        return "openai", "OpenAI"
    for (endpoint_id, name), local in zip(LOCAL_SERVERS, urls_on(local_host), strict=True):
        if url == local:
            return endpoint_id, name
    try:
        return "own", urlsplit(url).netloc.rpartition("@")[2] or url
    except ValueError:
        return "own", url


def _anthropic(settings: ChatSettings) -> EndpointSpec:
    key = settings.anthropic_api_key
    return EndpointSpec(
        id="anthropic",
        kind="anthropic",
        name="Anthropic",
        url=(settings.anthropic_base_url or ANTHROPIC).rstrip("/"),
        api_key=key.get_secret_value() if key else None,
        models=(settings.chie_anthropic_model,),
        settings=ANTHROPIC_VARIABLES,
    )


def _bedrock(settings: ChatSettings) -> EndpointSpec:
    return EndpointSpec(
        id="bedrock",
        kind="bedrock",
        name="Amazon Bedrock",
        region=settings.aws_region,
        profile=settings.aws_profile,
        models=(settings.chie_aws_model or DEFAULT_MODEL,),
        settings=BEDROCK_VARIABLES,
    )
