"""Where a model may answer: on this machine, or where the operator said. No request brings an address of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chie.http.values import is_address, is_header
from chie.setup.settings import SetupSettings

if TYPE_CHECKING:
    import httpx2

LM_STUDIO = "http://127.0.0.1:1234/v1"
OLLAMA = "http://127.0.0.1:11434/v1"
OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"

GLANCE_SECONDS = 1.0  # for a look at this machine while a page loads
TEST_SECONDS = 8.0


@dataclass(frozen=True)
class Outcome:
    """Whether it answered, with which models, or what to do about it. `install` where one command is all it takes."""

    ok: bool
    models: list[str] = field(default_factory=list)
    problem: str | None = None
    install: str | None = None


@dataclass(frozen=True)
class Package:
    """What our agents talk to an endpoint with, and what pip calls it."""

    module: str
    requirement: str

    @property
    def install(self) -> str | None:
        """The command that brings it, where it is missing."""
        return f"pip install {self.requirement}" if find_spec(self.module) is None else None


OPENAI_SDK = Package("openai", "'chie[openai]'")
CLAUDE_AGENT = Package("chie_agent_adk", "chie-agent-adk")  # a plug-in, which brings its SDK itself
AWS_SDK = Package("boto3", "'chie[bedrock]'")


@dataclass(frozen=True)
class Endpoint:
    """`settings` are the variables that lead to it; `address` is None until they are set."""

    id: str
    name: str
    address: str | None
    settings: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    path: str = "/models"
    package: Package = OPENAI_SDK

    @property
    def sound(self) -> bool:
        return is_address(self.address or "") and all(map(is_header, self.headers.values()))

    @property
    def local(self) -> bool:
        return self.sound and urlsplit(self.address or "").hostname in ("127.0.0.1", "::1", "localhost")

    async def test(self, *, seconds: float = TEST_SECONDS) -> Outcome:
        """Ask for the list of models, which costs nothing."""
        wanted = " and ".join(self.settings)
        if self.address is None:
            return Outcome(ok=False, problem=f"Set {wanted} first, then start Chie again.")
        if not self.sound:
            return Outcome(ok=False, problem=f"No request can be sent so. Correct {wanted}, then start Chie again.")
        import httpx2

        client = httpx2.AsyncClient(headers=dict(self.headers), timeout=seconds, trust_env=not self.local)
        try:
            async with client:
                answer = await client.get(f"{self.address}{self.path}")
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            return Outcome(ok=False, problem=self._away(error))
        return self._read(answer)

    def _read(self, answer: "httpx2.Response") -> Outcome:
        if answer.status_code != 200:
            return Outcome(ok=False, problem=self._refused(answer.status_code))
        try:
            models = [str(entry["id"]) for entry in answer.json()["data"]]
        except (ValueError, KeyError, TypeError):
            return Outcome(ok=False, problem=f"{self.shown} does not answer as {self.name} does. Correct its address.")
        if not models:
            return Outcome(ok=False, problem=f"{self.name} answers, but has no model. Load or pull one there.")
        if install := self.package.install:
            says = f"{self.name} answers. Now run this, then start Chie again: {install}"
            return Outcome(ok=False, problem=says, install=install)
        return Outcome(ok=True, models=models)

    @property
    def shown(self) -> str:
        """The address without a password that somebody may have put into it; nothing of one that is none."""
        if not self.sound:
            return ""
        parts = urlsplit(self.address or "")
        return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"

    def _away(self, error: Exception) -> str:
        start = f"Start {self.name}" if self.local else "Check the address and the network"
        return f"Nothing answers at {self.shown} ({type(error).__name__}). {start}, then test again."

    def _refused(self, status: int) -> str:
        if status in (401, 403):
            return f"{self.name} refused the key ({status}). Set {self.settings[-1]} to one that it knows."
        return f"{self.name} answered {status} at {self.shown}. Is the address right? It usually ends in /v1."


def find_endpoints(settings: SetupSettings) -> list[Endpoint]:
    key = settings.openai_api_key
    bearer = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    own = settings.openai_base_url.rstrip("/") if settings.openai_base_url else None
    found = [
        Endpoint("lm-studio", "LM Studio", LM_STUDIO),
        Endpoint("ollama", "Ollama", OLLAMA, ("OPENAI_BASE_URL",)),
        Endpoint(
            "openai",
            "OpenAI",
            OPENAI if key and own in (None, OPENAI) else None,
            ("OPENAI_API_KEY",),
            bearer,
        ),
        _anthropic(settings),
    ]
    if own not in (None, LM_STUDIO, OLLAMA, OPENAI):
        names = ("OPENAI_BASE_URL", "OPENAI_API_KEY")
        found.insert(0, Endpoint("own", "OpenAI-compatible server", own, names, bearer))
    return found


def _anthropic(settings: SetupSettings) -> Endpoint:
    key = settings.anthropic_api_key
    headers = {"x-api-key": key.get_secret_value(), "anthropic-version": "2023-06-01"} if key else {}
    address = (settings.anthropic_base_url or ANTHROPIC).rstrip("/") if key else None
    return Endpoint("anthropic", "Anthropic", address, ("ANTHROPIC_API_KEY",), headers, "/v1/models", CLAUDE_AGENT)


def ask_bedrock(settings: SetupSettings) -> Outcome:
    """Ask Bedrock which models there are; in a thread, for boto3 waits."""
    if install := AWS_SDK.install:
        return Outcome(ok=False, problem=f"boto3 is missing. Install it: {install}", install=install)
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        session = boto3.Session(profile_name=settings.aws_profile, region_name=settings.aws_region)
        patience = Config(connect_timeout=TEST_SECONDS, read_timeout=TEST_SECONDS, retries={"total_max_attempts": 1})
        client: Any = session.client("bedrock", config=patience)
        models = client.list_foundation_models(byOutputModality="TEXT")["modelSummaries"]
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "an error")
        return Outcome(ok=False, problem=f"Bedrock answered {code} in {settings.aws_region}. {_advice(code)}")
    except BotoCoreError as error:
        hint = "Sign in (aws sso login), or set AWS_PROFILE, then test again."
        return Outcome(ok=False, problem=f"AWS could not be asked ({type(error).__name__}). {hint}")
    return Outcome(ok=True, models=[str(model["modelId"]) for model in models])


def _advice(code: str) -> str:
    if "AccessDenied" in code:
        return "Give this identity the permission bedrock:ListFoundationModels, or try a question right away."
    return "Sign in again, check AWS_PROFILE and AWS_REGION, then test again."
