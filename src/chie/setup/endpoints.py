"""The endpoints that can serve a model: on this machine, or configured by the operator. Requests never supply a URL."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chie.http.values import is_header_value, is_http_url
from chie.installation.commands import PLUG_IN, install_extra, install_package
from chie.messages.catalogue import Message
from chie.setup.chat_models import chat_models, listed_model_chats
from chie.setup.local_servers import urls_on
from chie.setup.settings import SetupSettings

if TYPE_CHECKING:
    import httpx2

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"
LOCAL_HOSTS = ("127.0.0.1", "::1", "localhost", "host.docker.internal")

DISCOVERY_TIMEOUT_SECONDS = 1.0  # while a page loads
PROBE_TIMEOUT_SECONDS = 8.0


@dataclass(frozen=True)
class ProbeResult:
    """The models of an endpoint, or the problem with it. `install` is set if one command solves it."""

    ok: bool
    models: list[str] = field(default_factory=list)
    problem: Message | None = None
    install: str | None = None


@dataclass(frozen=True)
class Package:
    """The package that an agent needs to use an endpoint: one of our extras, or a package beside Chie."""

    module: str
    extra: str = ""
    package: str = ""

    @property
    def install(self) -> str | None:
        """The command that installs it; None if it is installed."""
        if find_spec(self.module) is not None:
            return None
        return install_extra(self.extra) if self.extra else install_package(self.package)


OPENAI_SDK = Package("openai", extra="openai")
CLAUDE_AGENT = Package("chie_agent_adk", package=PLUG_IN)  # a plug-in that depends on the SDK itself
AWS_SDK = Package("boto3", extra="bedrock")


@dataclass(frozen=True)
class Endpoint:
    """`settings` are the variables that configure it; `url` is None until they are set. One that is `looked_for` needs
    none: it counts if it responds."""

    id: str
    name: str | Message
    url: str | None
    settings: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    path: str = "/models"
    package: Package = OPENAI_SDK
    looked_for: bool = False

    @property
    def is_valid(self) -> bool:
        return is_http_url(self.url or "") and all(map(is_header_value, self.headers.values()))

    @property
    def is_local(self) -> bool:
        return self.is_valid and urlsplit(self.url or "").hostname in LOCAL_HOSTS

    @property
    def shown_url(self) -> str:
        """The URL without a password; empty if it is not valid."""
        if not self.is_valid:
            return ""
        parts = urlsplit(self.url or "")
        return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"

    async def probe(self, *, timeout_seconds: float = PROBE_TIMEOUT_SECONDS) -> ProbeResult:
        """Request the list of models, which costs nothing."""
        if self.url is None:
            return _failed(Message("setup.endpoint_not_configured", variables=self.settings))
        if not self.is_valid:
            return _failed(Message("setup.endpoint_settings_invalid", variables=self.settings))
        import httpx2

        client = httpx2.AsyncClient(headers=dict(self.headers), timeout=timeout_seconds, trust_env=not self.is_local)
        try:
            async with client:
                response = await client.get(f"{self.url}{self.path}")
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            return _failed(self._unreachable(type(error).__name__))
        return self._read(response)

    def _read(self, response: "httpx2.Response") -> ProbeResult:
        if response.status_code != 200:
            return _failed(self._rejected(response.status_code))
        try:
            models = _chat_models(response.json())
        except (ValueError, KeyError, TypeError, AttributeError):
            return _failed(Message("setup.endpoint_incompatible", url=self.shown_url, name=self.name))
        if not models:
            return _failed(Message("setup.endpoint_without_models", name=self.name))
        if install := self.package.install:
            return _failed(Message("setup.package_missing", name=self.name, command=install), install)
        return ProbeResult(ok=True, models=models)

    def _unreachable(self, error: str) -> Message:
        if self.is_local:
            return Message("setup.local_endpoint_unreachable", url=self.shown_url, error=error, name=self.name)
        return Message("setup.endpoint_unreachable", url=self.shown_url, error=error)

    def _rejected(self, status: int) -> Message:
        if status in (401, 403) and self.settings:
            return Message("setup.key_rejected", name=self.name, status=status, variable=self.settings[-1])
        return Message("setup.endpoint_error", name=self.name, status=status, url=self.shown_url)


def find_endpoints(settings: SetupSettings) -> list[Endpoint]:
    key = settings.openai_api_key
    bearer = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    own = settings.openai_base_url.rstrip("/") if settings.openai_base_url else None
    lm_studio, ollama = urls_on(settings.chie_model_host)
    found = [
        Endpoint("lm-studio", "LM Studio", lm_studio, looked_for=True),
        Endpoint("ollama", "Ollama", ollama, looked_for=True),
        Endpoint(
            "openai",
            "OpenAI",
            OPENAI if key and own in (None, OPENAI) else None,
            ("OPENAI_API_KEY",),
            bearer,
        ),
        _anthropic(settings),
    ]
    if own not in (None, lm_studio, ollama, OPENAI):
        variables = ("OPENAI_BASE_URL", "OPENAI_API_KEY")
        found.insert(0, Endpoint("own", Message("setup.openai_compatible_server"), own, variables, bearer))
    return found


def _anthropic(settings: SetupSettings) -> Endpoint:
    key = settings.anthropic_api_key
    headers = {"x-api-key": key.get_secret_value(), "anthropic-version": "2023-06-01"} if key else {}
    url = (settings.anthropic_base_url or ANTHROPIC).rstrip("/") if key else None
    return Endpoint("anthropic", "Anthropic", url, ("ANTHROPIC_API_KEY",), headers, "/v1/models", CLAUDE_AGENT)


def probe_bedrock(settings: SetupSettings) -> ProbeResult:
    """List Bedrock's models. Blocks, like boto3: call it in a thread."""
    if install := AWS_SDK.install:
        return _failed(Message("setup.boto3_missing", command=install), install)
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError

    timeout = PROBE_TIMEOUT_SECONDS
    try:
        session = boto3.Session(profile_name=settings.aws_profile, region_name=settings.aws_region)
        config = Config(connect_timeout=timeout, read_timeout=timeout, retries={"total_max_attempts": 1})
        client: Any = session.client("bedrock", config=config)
        models = client.list_foundation_models(byOutputModality="TEXT")["modelSummaries"]
    except ClientError as error:
        return _failed(_bedrock_error(error.response.get("Error", {}).get("Code", ""), settings.aws_region))
    except BotoCoreError as error:
        return _failed(Message("setup.aws_unavailable", error=type(error).__name__))
    names = chat_models(str(model["modelId"]) for model in models)
    if not names:
        return _failed(Message("setup.endpoint_without_models", name="Amazon Bedrock"))
    return ProbeResult(ok=True, models=names)


def _chat_models(listed: Any) -> list[str]:  # noqa: ANN401 - JSON
    """A server that has only a model for embeddings has none to answer with."""
    entries = listed if isinstance(listed, list) else listed["data"]
    return chat_models(str(entry["id"]) for entry in entries if listed_model_chats(entry) is not False)


def _bedrock_error(aws_code: str, region: str) -> Message:
    if "AccessDenied" in aws_code:
        return Message("setup.bedrock_access_denied", aws_code=aws_code, region=region)
    return Message("setup.bedrock_error", aws_code=aws_code or "error", region=region)


def _failed(problem: Message, install: str | None = None) -> ProbeResult:
    return ProbeResult(ok=False, problem=problem, install=install)
