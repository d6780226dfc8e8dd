"""Settings for authentication, rate limits and the audit log."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator
from pydantic_settings import NoDecode, SettingsConfigDict

from chie.access.identity import ANONYMOUS
from chie.settings import HomeSettings

STDERR = "-"


class AccessSettings(HomeSettings):
    model_config = SettingsConfigDict(env_prefix="CHIE_")

    users_file: Path | None = Field(
        default=None,
        description="File in which `chie users` stores names and token hashes; may be a mounted secret. "
        "Default: `users.json` in `CHIE_HOME`.",
    )
    user: str = Field(
        default=ANONYMOUS,
        min_length=1,
        max_length=200,
        description="Your user id on the command line and for a server on stdio.",
    )
    user_admin: bool = Field(default=False, description="Whether that user may change what others wrote.")
    auth_issuer: str | None = Field(
        default=None,
        description="Issuer of an OIDC provider, such as `https://accounts.google.com`, whose JWTs are accepted.",
    )
    auth_audience: str | None = Field(
        default=None, description="Audience (`aud`) that the JWTs must have; required with the issuer."
    )
    auth_jwks_url: str | None = Field(
        default=None, description="URL of the issuer's keys. Default: as in the issuer's discovery document."
    )
    auth_user_claim: str = Field(default="sub", description="Claim that is the user's id: `sub`, `email`, …")
    auth_admin_claim: str | None = Field(
        default=None,
        description="Claim that makes an admin; dots address nested claims: `roles`, `realm_access.roles`.",
    )
    auth_admin_value: str = Field(default="admin", description="Value that this claim must equal or contain.")
    auth_header: str = Field(
        default="Authorization",
        pattern=r"^[A-Za-z0-9-]+$",
        description="Header in which a proxy in front sends its JWT: `X-Goog-IAP-JWT-Assertion`, "
        "`Cf-Access-Jwt-Assertion`. Tokens of `chie users` are always read from `Authorization`.",
    )
    auth_leeway: float = Field(default=30, ge=0, le=300, description="Tolerated clock skew in seconds.")
    allowed_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default_factory=tuple,
        description="Other web sites whose pages may call the API, separated by commas: `https://wiki.example`.",
    )
    rate_limit: int = Field(default=600, ge=0, description="Requests per minute and user; 0 sets no limit.")
    rate_burst: int = Field(default=200, ge=1, description="Requests that a user may send at once.")
    body_seconds: float = Field(
        default=60,
        gt=0,
        description="Seconds in which a request's body must arrive; at 50 kB/s or faster it may take longer.",
    )
    audit_log: str | None = Field(
        default=None,
        description="Audit log of writes: user, time, kind and id. `-` is standard error. "
        "Default: `audit.log` in `CHIE_HOME`.",
    )

    @field_validator("allowed_origins", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return tuple(origin.rstrip("/").lower() for origin in filter(None, map(str.strip, value.split(","))))

    @property
    def users_path(self) -> Path:
        return (self.users_file or self.home / "users.json").expanduser()

    @property
    def audit_path(self) -> Path | None:
        """None for standard error."""
        if self.audit_log == STDERR:
            return None
        return Path(self.audit_log).expanduser() if self.audit_log else self.home.expanduser() / "audit.log"
