"""Settings of the Collection that stores the notes."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Any

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from chie.errors import ConfigurationError
from chie.settings import load

# The service accepts DNS labels as ids.
COLLECTION_ID = re.compile(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")


class VectorSearchSettings(BaseSettings):
    model_config = SettingsConfigDict(extra="ignore")

    google_cloud_project: str | None = Field(default=None, description="Project id. Required.")
    vector_search_location: str | None = Field(
        default=None, description="Region of the Collection, such as `us-central1`. Required."
    )
    vector_search_collection: str | None = Field(
        default=None, description="Id of the Collection: lower-case letters, digits and hyphens. Required."
    )
    chie_vector_search_emulator: str | None = Field(
        default=None,
        description="For tests only: `127.0.0.1:PORT` of an emulator, used without TLS and credentials.",
    )

    @model_validator(mode="before")
    @classmethod
    def _blank_is_unset(cls, values: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in values.items() if not isinstance(value, str) or value.strip()}


@dataclass(frozen=True, kw_only=True)
class CollectionConfig:
    """The Collection's resource name. `emulator` is set only in tests."""

    project: str
    location: str
    collection: str
    emulator: str | None = None

    @property
    def parent(self) -> str:
        return f"projects/{self.project}/locations/{self.location}"

    @property
    def name(self) -> str:
        return f"{self.parent}/collections/{self.collection}"


def load_config() -> CollectionConfig:
    """ConfigurationError names the missing variables."""
    settings = load(VectorSearchSettings)
    required = {
        "GOOGLE_CLOUD_PROJECT": settings.google_cloud_project,
        "VECTOR_SEARCH_LOCATION": settings.vector_search_location,
        "VECTOR_SEARCH_COLLECTION": settings.vector_search_collection,
    }
    if missing := [name for name, value in required.items() if value is None]:
        raise ConfigurationError("vector_search.not_configured", names=missing)
    project, location, collection = (value or "" for value in required.values())
    if not COLLECTION_ID.fullmatch(collection):
        raise ConfigurationError("vector_search.collection_id_invalid")
    return CollectionConfig(
        project=project,
        location=location,
        collection=collection,
        emulator=_loopback(settings.chie_vector_search_emulator),
    )


def reject_unused() -> None:
    """ConfigurationError if variables that choose a Collection are set while notes would be stored elsewhere.

    `GOOGLE_CLOUD_PROJECT` is not among them: other programs and Cloud Shell set it for their own purposes.
    """
    settings = load(VectorSearchSettings)
    own = {
        "VECTOR_SEARCH_LOCATION": settings.vector_search_location,
        "VECTOR_SEARCH_COLLECTION": settings.vector_search_collection,
    }
    if names := [name for name, value in own.items() if value is not None]:
        raise ConfigurationError("vector_search.not_chosen", names=names)


def _loopback(address: str | None) -> str | None:
    """Unencrypted connections are allowed only to this machine."""
    if address is None:
        return None
    try:
        if ipaddress.ip_address(address.rpartition(":")[0].strip("[]")).is_loopback:
            return address
    except ValueError:
        pass
    raise ConfigurationError("vector_search.emulator_invalid")
