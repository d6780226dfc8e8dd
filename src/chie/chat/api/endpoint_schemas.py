"""Bodies and responses of the routes for model endpoints. No response has a field for a key."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from chie.chat.api.schemas import MAX_ID, Body
from chie.chat.endpoints.endpoint import Kind, StoredEndpoint
from chie.chat.endpoints.environment import EnvironmentEndpoint
from chie.chat.endpoints.service import Entered
from chie.messages.catalogue import Message

MAX_TEXT = 500
MAX_KEY = 8_000

Text = Annotated[str, Field(max_length=MAX_TEXT, pattern=r"^[^\x00]*$")]
Key = Annotated[str, Field(max_length=MAX_KEY, pattern=r"^[^\x00]*$")]

SETTINGS = ("url", "region", "profile", "model")
SECRETS = ("api_key", "access_key_id", "secret_access_key", "session_token")


class EndpointFields(Body):
    """A field that is left out keeps its value; null removes it. Keys can be written, never read."""

    name: Text | None = Field(default=None, description="The name under which people see it.")
    url: Text | None = Field(default=None, description="Default: the URL of the provider.")
    region: Text | None = Field(default=None, description="The AWS region of Amazon Bedrock.")
    profile: Text | None = Field(default=None, description="The AWS profile on the server, in place of keys.")
    model: Text | None = Field(default=None, description="The model that is used by default.")
    api_key: Key | None = None
    access_key_id: Key | None = None
    secret_access_key: Key | None = None
    session_token: Key | None = None

    def entered(self) -> Entered:
        sent = self.model_dump(exclude_unset=True)
        settings = {name: sent[name] for name in SETTINGS if name in sent}
        secret = {name: sent[name] for name in SECRETS if name in sent}
        return Entered(name=self.name, settings=settings, secret=secret)


class NewEndpoint(EndpointFields):
    kind: Kind


class EndpointTrial(EndpointFields):
    """An endpoint to test. With the `id` of a stored one, the fields that are left out are taken from there."""

    kind: Kind | None = None
    id: Annotated[str, Field(min_length=1, max_length=MAX_ID)] | None = None


class TrialResult(BaseModel):
    """`models` are the chat models of an endpoint that works; otherwise `reason` says what is wrong."""

    ok: bool
    models: list[str] = []
    reason: str | None = None
    reason_code: str | None = None
    reason_params: dict[str, Any] | None = None

    @classmethod
    def failed(cls, reason: Message) -> "TrialResult":
        return cls(ok=False, reason=str(reason), reason_code=reason.code, reason_params=reason.json_params())


class EndpointEntry(BaseModel):
    """Users who are no admins see `id`, `name` and `kind` alone. A `key` that is `unreadable` was encrypted on another
    machine and must be entered again. `variables` are the environment variables of an endpoint that is set there."""

    id: str
    name: str
    name_code: str | None = None
    name_params: dict[str, Any] | None = None
    kind: Kind
    source: Literal["page", "environment"]
    url: str | None = None
    region: str | None = None
    profile: str | None = None
    model: str | None = None
    key: Literal["none", "set", "unreadable"] | None = None
    key_kind: Literal["api_key", "keys"] | None = None
    key_changed_at: datetime | None = None
    variables: list[str] = []


class Endpoints(BaseModel):
    endpoints: list[EndpointEntry]


def stored_entry(endpoint: StoredEndpoint, *, admin: bool) -> EndpointEntry:
    entry = EndpointEntry(id=endpoint.id, name=endpoint.name, kind=endpoint.kind, source="page")
    if not admin:
        return entry
    state: Literal["none", "set", "unreadable"] = "set" if endpoint.is_readable else "unreadable"
    details = {
        "url": endpoint.url or None,
        "region": endpoint.region if endpoint.kind == "bedrock" else None,
        "profile": endpoint.settings.profile,
        "model": endpoint.settings.model,
        "key": state if endpoint.has_secret else "none",
        "key_kind": endpoint.settings.credentials if endpoint.has_secret else None,
        "key_changed_at": endpoint.secret_changed_at,
    }
    return entry.model_copy(update=details)


def environment_entry(endpoint: EnvironmentEndpoint, *, admin: bool) -> EndpointEntry:
    name = endpoint.name
    texts: dict[str, Any] = (
        {"name_code": name.code, "name_params": name.json_params()} if isinstance(name, Message) else {}
    )
    entry = EndpointEntry(id=endpoint.id, name=str(name), kind=endpoint.kind, source="environment", **texts)
    if not admin:
        return entry
    details = {"url": endpoint.url, "region": endpoint.region, "variables": list(endpoint.variables)}
    return entry.model_copy(update=details)
