"""A stored model endpoint, and the port to where endpoints are stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol
from urllib.parse import urlsplit

Kind = Literal["openai", "anthropic", "bedrock", "gemini"]

DEFAULT_URLS: dict[Kind, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
}
DEFAULT_REGION = "ap-northeast-1"


@dataclass(frozen=True, kw_only=True)
class EndpointSettings:
    """What may be shown. `url` is None for the provider's own; `model` is the model that is used by default;
    `credentials` is what kind of key is stored."""

    url: str | None = None
    region: str | None = None
    profile: str | None = None
    model: str | None = None
    credentials: Literal["api_key", "keys"] | None = None


@dataclass(frozen=True, kw_only=True)
class StoredEndpoint:
    """`secret` has `api_key`, or `access_key_id`, `secret_access_key` and perhaps `session_token`. It is empty without
    a key, and also if `has_secret` is true and the text cannot be decrypted on this machine."""

    id: str
    name: str
    kind: Kind
    settings: EndpointSettings = EndpointSettings()
    secret: Mapping[str, str] = field(default_factory=dict, repr=False)
    has_secret: bool = False
    secret_changed_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def is_readable(self) -> bool:
        return bool(self.secret) or not self.has_secret

    @property
    def url(self) -> str:
        """Empty for Amazon Bedrock, which has a region instead."""
        return (self.settings.url or DEFAULT_URLS.get(self.kind, "")).rstrip("/")

    @property
    def region(self) -> str:
        return self.settings.region or DEFAULT_REGION

    @property
    def origin(self) -> tuple[str, str]:
        """Where a key is sent to: scheme and host with port, or the region."""
        parts = urlsplit(self.url)
        return (parts.scheme, parts.netloc.lower()) if self.url else ("bedrock", "")

    @property
    def api_key(self) -> str | None:
        return self.secret.get("api_key")


class EndpointStore(Protocol):
    """Endpoints in the order in which they were added; secrets are encrypted at rest."""

    async def list(self) -> "list[StoredEndpoint]": ...

    async def add(self, endpoint: StoredEndpoint) -> None:
        """ConflictError if the name is taken."""

    async def replace(self, endpoint: StoredEndpoint, *, new_secret: bool) -> bool:
        """Whether there was one with this id. Without `new_secret`, the stored secret stays."""

    async def delete(self, endpoint_id: str) -> bool:
        """Whether there was one."""
