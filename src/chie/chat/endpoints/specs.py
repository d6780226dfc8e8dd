"""Stored endpoints as the catalogue of models knows them."""

from chie.chat.endpoints.endpoint import Kind, StoredEndpoint
from chie.chat.models.aws_client import AccessKeys
from chie.chat.models.endpoint import SettingNames
from chie.chat.models.provider import EndpointSpec
from chie.chat.models.provider import Kind as ProviderKind
from chie.messages.catalogue import Message

_KINDS: dict[Kind, ProviderKind] = {
    "openai": "openai",
    "gemini": "openai",
    "anthropic": "anthropic",
    "bedrock": "bedrock",
}


def spec_of(endpoint: StoredEndpoint) -> EndpointSpec:
    name = endpoint.name
    bedrock = endpoint.kind == "bedrock"
    settings = SettingNames(
        url=Message("endpoints.field_region" if bedrock else "endpoints.field_url", name=name),
        api_key=Message("endpoints.field_credentials" if bedrock else "endpoints.field_key", name=name),
        model=Message("endpoints.field_model", name=name),
    )
    problem = None if endpoint.is_readable else Message("endpoints.key_unreadable", name=name)
    return EndpointSpec(
        id=endpoint.id,
        kind=_KINDS[endpoint.kind],
        name=name,
        url=endpoint.url,
        api_key=endpoint.api_key,
        region=endpoint.region,
        profile=endpoint.settings.profile,
        access_keys=_access_keys(endpoint),
        models=(endpoint.settings.model,) if endpoint.settings.model else (),
        settings=settings,
        problem=problem,
    )


def _access_keys(endpoint: StoredEndpoint) -> AccessKeys | None:
    secret = endpoint.secret
    if "access_key_id" not in secret:
        return None
    token = secret.get("session_token")
    return AccessKeys(key_id=secret["access_key_id"], secret=secret["secret_access_key"], token=token)
