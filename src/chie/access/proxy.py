"""What stands before Chie: on Cloud Run, or behind any proxy that asks people who they are, Chie need not ask again."""

from typing import Annotated, Any

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from chie.errors import ConfigurationError
from chie.settings import load


class ProxySettings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="CHIE_", extra="ignore")

    behind_proxy_auth: bool = Field(
        default=False,
        description="`1` where everything that reaches Chie has passed something that knows its users, such as Cloud "
        "Run with IAM. Only then may Chie listen beyond this machine without users of its own.",
    )
    allowed_hosts: Annotated[list[str], NoDecode] = Field(
        default=[],
        description="Names that people reach Chie by, with commas between, such as `chie.example.com`; a `*` in one "
        "stands for any letters. Other names than these and this machine's own are refused. "
        "Required with `CHIE_BEHIND_PROXY_AUTH`.",
    )

    @property
    def origins(self) -> list[str]:
        """What browsers call our page: its names, and this machine's, where a tunnel such as gcloud's ends. The proxy
        took the encryption off, so the address that we see ourselves at is another."""
        if not self.allowed_hosts:
            return []
        return [*(f"https://{host}" for host in self.allowed_hosts), "http://127.0.0.1:*", "http://localhost:*"]

    @field_validator("allowed_hosts", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:  # noqa: ANN401
        return [host.strip() for host in value.split(",") if host.strip()] if isinstance(value, str) else value


def load_proxy() -> ProxySettings:
    settings = load(ProxySettings)
    if settings.behind_proxy_auth and not settings.allowed_hosts:
        raise ConfigurationError(
            "not configured: CHIE_ALLOWED_HOSTS. CHIE_BEHIND_PROXY_AUTH needs the names that people reach Chie by."
        )
    return settings
