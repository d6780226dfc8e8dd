"""The endpoints that environment variables configure. They win, and can only be changed there."""

from dataclasses import dataclass

from chie.chat.endpoints.endpoint import Kind
from chie.messages.catalogue import Message
from chie.settings import environment, load
from chie.setup.endpoints import OPENAI, find_endpoints
from chie.setup.local_servers import urls_on
from chie.setup.settings import SetupSettings

_OPENAI = ("OPENAI_BASE_URL", "OPENAI_API_KEY")
_BEDROCK = ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK", "CHIE_AWS_MODEL")


@dataclass(frozen=True, kw_only=True)
class EnvironmentEndpoint:
    """`id` is that of the setup page, which tests it; `variables` are those that are set, never their values."""

    id: str
    name: str | Message
    kind: Kind
    variables: tuple[str, ...]
    url: str | None = None
    region: str | None = None


def environment_endpoints() -> list[EnvironmentEndpoint]:
    settings = load(SetupSettings)
    found = [_openai(settings), _anthropic(settings), _bedrock(settings)]
    return [endpoint for endpoint in found if endpoint is not None]


def _openai(settings: SetupSettings) -> EnvironmentEndpoint | None:
    if not (variables := _set(*_OPENAI)):
        return None
    lm_studio, ollama = urls_on(settings.chie_model_host)
    ids = {lm_studio: "lm-studio", ollama: "ollama", OPENAI: "openai"}
    url = (settings.openai_base_url or OPENAI).rstrip("/")
    shown = {one.id: one for one in find_endpoints(settings)}[ids.get(url, "own")]
    return EnvironmentEndpoint(id=shown.id, name=shown.name, kind="openai", variables=variables, url=shown.shown_url)


def _anthropic(settings: SetupSettings) -> EnvironmentEndpoint | None:
    shown = next(one for one in find_endpoints(settings) if one.id == "anthropic")
    if shown.url is None:
        return None
    variables = _set("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")
    return EnvironmentEndpoint(id=shown.id, name=shown.name, kind="anthropic", variables=variables, url=shown.shown_url)


def _bedrock(settings: SetupSettings) -> EnvironmentEndpoint | None:
    if not (variables := _set(*_BEDROCK)):
        return None
    return EnvironmentEndpoint(
        id="bedrock", name="Amazon Bedrock", kind="bedrock", variables=variables, region=settings.aws_region
    )


def _set(*names: str) -> tuple[str, ...]:
    known = environment()
    return tuple(name for name in names if known.get(name))
