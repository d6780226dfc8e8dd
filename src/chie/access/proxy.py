"""Settings for a reverse proxy in front of Chie, such as Cloud Run with IAM, that authenticates users itself."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict
from starlette.datastructures import Headers

from chie.errors import ConfigurationError
from chie.settings import load

if TYPE_CHECKING:
    from starlette.types import Scope


class ProxySettings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="CHIE_", extra="ignore")

    behind_proxy_auth: bool = Field(
        default=False,
        description="`1` if a proxy in front authenticates every request, such as Cloud Run with IAM. Only then may "
        "Chie listen beyond this machine without users of its own.",
    )
    allowed_hosts: Annotated[list[str], NoDecode] = Field(
        default=[],
        description="Host names under which Chie is reached, separated by commas, such as `chie.example.com`; `*` "
        "matches any characters. Requests for other names than these and this machine's own are rejected. "
        "Required with `CHIE_BEHIND_PROXY_AUTH`.",
    )

    @property
    def origins(self) -> list[str]:
        """The origins of our page in a browser: https, because the proxy terminates TLS."""
        return [f"https://{host.lower()}" for host in self.allowed_hosts]

    @property
    def tunnel_origins(self) -> list[str]:
        """Origins of our page through a tunnel to the proxy, such as that of `gcloud run services proxy`."""
        return ["http://127.0.0.1:*", "http://localhost:*"] if self.allowed_hosts else []

    @field_validator("allowed_hosts", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return [host.strip() for host in value.split(",") if host.strip()] if isinstance(value, str) else value


def load_proxy() -> ProxySettings:
    settings = load(ProxySettings)
    if settings.behind_proxy_auth and not settings.allowed_hosts:
        raise ConfigurationError("access.allowed_hosts_missing")
    return settings


def base_url(scope: "Scope") -> str:
    """The app's own URL as the client sees it."""
    headers = Headers(scope=scope)
    forwarded = headers.get("x-forwarded-proto", "").partition(",")[0].strip()
    scheme = "https" if forwarded == "https" else scope["scheme"]
    return f"{scheme}://{headers.get('host', '')}"
