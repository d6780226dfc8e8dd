"""What an operator can set about users."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from chie.access.identity import ANONYMOUS
from chie.settings import Home, home_folder

STDERR = "-"


class AccessSettings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="CHIE_", extra="ignore")

    home: Home = Field(
        default_factory=home_folder,
        description="Folder that holds `users.json` and `audit.log`.",
    )
    users_file: Path | None = Field(
        default=None,
        description="Where `chie users` keeps names and hashes of tokens; may be a mounted secret. "
        "Default: `users.json` in `CHIE_HOME`.",
    )
    user: str = Field(
        default=ANONYMOUS,
        min_length=1,
        max_length=200,
        description="Who you are on the command line and for a server on stdio.",
    )
    user_admin: bool = Field(default=False, description="Whether that user may change what others wrote.")
    auth_issuer: str | None = Field(
        default=None,
        description="Issuer of an OIDC provider, such as `https://accounts.google.com`: its JWTs are let in.",
    )
    auth_audience: str | None = Field(
        default=None, description="What the JWTs must be made for (`aud`); needed with the issuer."
    )
    auth_jwks_url: str | None = Field(
        default=None, description="Where the issuer's keys are. Without it: where the issuer's discovery document says."
    )
    auth_user_claim: str = Field(default="sub", description="Claim that is the user's id: `sub`, `email`, …")
    auth_admin_claim: str | None = Field(
        default=None, description="Claim that makes an admin, dots lead inside: `roles`, `realm_access.roles`."
    )
    auth_admin_value: str = Field(default="admin", description="What that claim must be, or hold.")
    auth_header: str = Field(
        default="Authorization",
        pattern=r"^[A-Za-z0-9-]+$",
        description="Header that has the JWT, where a proxy in front signs one: `X-Goog-IAP-JWT-Assertion`, "
        "`Cf-Access-Jwt-Assertion`. Tokens of `chie users` are always taken from `Authorization`.",
    )
    auth_leeway: float = Field(default=30, ge=0, le=300, description="Seconds that two clocks may differ.")
    allowed_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default_factory=tuple,
        description="Other web sites whose pages may call the API, separated by commas: `https://wiki.example`.",
    )
    rate_limit: int = Field(default=600, ge=0, description="Requests a minute for each user; 0 sets no limit.")
    rate_burst: int = Field(default=200, ge=1, description="How many of them may come at once.")
    body_seconds: float = Field(
        default=60,
        gt=0,
        description="Seconds in which a request's body must arrive; one that comes at 50 kB/s gets longer.",
    )
    audit_log: str | None = Field(
        default=None,
        description="File in which writes are noted: who, when, what kind, which id. `-` is standard error. "
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
        """None is standard error."""
        if self.audit_log == STDERR:
            return None
        return Path(self.audit_log).expanduser() if self.audit_log else self.home.expanduser() / "audit.log"
