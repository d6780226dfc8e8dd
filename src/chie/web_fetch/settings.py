"""The settings of this module."""

from typing import Annotated

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from chie.web_fetch.allowed_hosts import AllowedHost


class FetchSettings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="CHIE_FETCH_", extra="ignore")

    allow: Annotated[tuple[str, ...], NoDecode] = Field(
        default_factory=tuple,
        description="Hosts and networks that tools may open although their addresses are not public, separated by "
        "commas: `wiki.corp.example`, `*.corp.example`, `10.1.0.0/16`, `localhost:3000`.",
    )
    robots: bool = Field(default=False, description="`1` makes the `fetch` server obey the `robots.txt` of each site.")
    proxy: SecretStr | None = Field(
        default=None,
        description="Proxy for the `fetch` server, such as `http://proxy.corp.example:3128`. `HTTPS_PROXY` and the "
        "like do not apply to it.",
    )
    timeout: float = Field(default=30, gt=0, description="Time limit for reading a page, in seconds.")
    max_bytes: int = Field(
        default=5_000_000, ge=1_000, description="Maximum size of a page in bytes; the rest is not read."
    )

    @field_validator("allow", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value

    @field_validator("allow")
    @classmethod
    def _parse(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for entry in value:
            AllowedHost.parse(entry)
        return value
