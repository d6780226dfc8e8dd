"""The endpoints that agents can use, and how an admin changes them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from uuid import uuid4

from chie.access import audit
from chie.chat.endpoints.endpoint import EndpointSettings, EndpointStore, Kind, StoredEndpoint
from chie.chat.endpoints.specs import spec_of
from chie.chat.endpoints.validation import check_endpoint
from chie.chat.models.provider import EndpointSpec
from chie.chat.shared_read import SharedRead
from chie.errors import NotFoundError, ValidationError
from chie.logging import hide

CACHE_SECONDS = 2.0  # another process may have changed them


@dataclass(frozen=True, kw_only=True)
class Entered:
    """What an admin has entered. A field that is not in `settings` or `secret` was not sent; None removes a value."""

    name: str | None = None
    settings: Mapping[str, str | None] = field(default_factory=dict)
    secret: Mapping[str, str | None] = field(default_factory=dict, repr=False)


class StoredEndpoints:
    """Read on use: a change counts at once in this process, and soon in the others. Empty until it has a store."""

    def __init__(self) -> None:
        self._store: EndpointStore | None = None
        self._shared = SharedRead(self._read, seconds=CACHE_SECONDS)

    def use(self, store: EndpointStore) -> None:
        self._store = store
        self._shared.forget()

    async def _read(self) -> list[StoredEndpoint]:
        found = await self._writable().list()
        for endpoint in found:
            hide(*endpoint.secret.values())
        return found

    async def list(self) -> list[StoredEndpoint]:
        return await self._shared() if self._store else []

    async def specs(self) -> Sequence[EndpointSpec]:
        """For the catalogue of models."""
        return [spec_of(endpoint) for endpoint in await self.list()]

    async def get(self, endpoint_id: str) -> StoredEndpoint:
        for endpoint in await self.list():
            if endpoint.id == endpoint_id:
                return endpoint
        raise NotFoundError("endpoints.not_found")

    async def create(self, kind: Kind, entered: Entered) -> StoredEndpoint:
        endpoint = drafted(kind, entered)
        await self._writable().add(endpoint)
        return await self._changed("endpoint.created", endpoint.id)

    async def change(self, endpoint_id: str, entered: Entered) -> StoredEndpoint:
        endpoint = await self.draft_of(endpoint_id, entered)
        if not await self._writable().replace(endpoint, new_secret=bool(entered.secret)):
            raise NotFoundError("endpoints.not_found")
        return await self._changed("endpoint.changed", endpoint_id)

    async def delete(self, endpoint_id: str) -> None:
        if not await self._writable().delete(endpoint_id):
            raise NotFoundError("endpoints.not_found")
        self._shared.forget()
        audit.record("endpoint.deleted", endpoint_id)

    async def draft_of(self, endpoint_id: str, entered: Entered) -> StoredEndpoint:
        """A stored endpoint with what was entered, checked but not stored."""
        self._shared.forget()
        return _merged(await self.get(endpoint_id), entered)

    async def _changed(self, what: str, endpoint_id: str) -> StoredEndpoint:
        self._shared.forget()
        audit.record(what, endpoint_id)
        return await self.get(endpoint_id)

    def _writable(self) -> EndpointStore:
        if self._store is None:
            raise NotFoundError("endpoints.not_found")
        return self._store


def drafted(kind: Kind, entered: Entered, *, default_name: str = "") -> StoredEndpoint:
    """A new endpoint, checked but not stored."""
    return _merged(StoredEndpoint(id=uuid4().hex[:12], name=default_name, kind=kind), entered)


def _merged(endpoint: StoredEndpoint, entered: Entered) -> StoredEndpoint:
    hide(*filter(None, entered.secret.values()))
    secret = {name: value for name, value in {**endpoint.secret, **entered.secret}.items() if value}
    settings = _without_blanks({**asdict(endpoint.settings), **entered.settings})
    if entered.secret:
        settings["credentials"] = "keys" if "access_key_id" in secret else "api_key" if secret else None
    merged = replace(
        endpoint,
        name=(entered.name or "").strip() or endpoint.name,
        settings=EndpointSettings(**settings),
        secret=secret,
        has_secret=bool(secret) or (endpoint.has_secret and not entered.secret),
    )
    check_endpoint(merged)
    _require_key_again(endpoint, merged, entered)
    return merged


def _require_key_again(before: StoredEndpoint, after: StoredEndpoint, entered: Entered) -> None:
    """A stored key goes to the host that it was entered for, and to no other."""
    kept = [name for name in after.secret if name in before.secret and not entered.secret.get(name)]
    unreadable = after.has_secret and not any(entered.secret.values())
    if before.has_secret and before.origin != after.origin and (kept or unreadable):
        raise ValidationError("endpoints.key_needed_again")


def _without_blanks(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: (value.strip() or None) if isinstance(value, str) else value for name, value in settings.items()}
