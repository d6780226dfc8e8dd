"""Creates the Collection once, with admin rights, or compares an existing one with what Chie needs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from chie.errors import ConfigurationError
from chie.knowledge.store.vector_search.client import VectorSearchClient
from chie.knowledge.store.vector_search.config import CollectionConfig
from chie.knowledge.store.vector_search.errors import ADMIN_ROLES
from chie.knowledge.store.vector_search.objects import SCHEMA, TEMPLATE, VECTOR
from chie.messages.catalogue import Message

# Handles Japanese and English. Only its full-length vectors are normalised, so that their dot product is a cosine.
MODEL = "gemini-embedding-001"
DIMENSIONS = 3072

POLL_SECONDS = 2.0
MAX_WAIT_SECONDS = 900.0

Outcome = Literal["created", "completed", "exists"]


@dataclass(frozen=True, kw_only=True)
class ProvisionResult:
    """`added` are data fields that an existing Collection lacked."""

    name: str
    outcome: Outcome
    model: str
    dimensions: int
    added: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class CollectionProvisioner:
    """`waiting` is called at every poll of an unfinished operation."""

    config: CollectionConfig
    model: str = MODEL
    dimensions: int = DIMENSIONS
    waiting: Callable[[], None] = lambda: None
    poll_seconds: float = POLL_SECONDS

    def provision(self) -> ProvisionResult:
        client = VectorSearchClient(self.config, roles=ADMIN_ROLES)
        try:
            existing = self._existing(client)
            if existing is None and self._create(client):
                return self._result("created")
            return self._compare(client, existing or self._existing(client))
        finally:
            client.close()

    def _existing(self, client: VectorSearchClient) -> Any:  # noqa: ANN401
        from google.api_core.exceptions import NotFound

        try:
            return client.administer("get_collection", {"name": self.config.name}, NotFound)
        except NotFound:
            return None

    def _create(self, client: VectorSearchClient) -> bool:
        """False if the Collection exists, possibly created by this call if its first response was lost."""
        from google.api_core.exceptions import AlreadyExists

        request = {
            "parent": self.config.parent,
            "collection_id": self.config.collection,
            "collection": {
                "display_name": "Chie's notes",
                "data_schema": {"type": "object", "properties": SCHEMA},
                "vector_schema": {VECTOR: {"dense_vector": self._vector()}},
            },
        }
        try:
            self._wait(client, client.administer("create_collection", request, AlreadyExists))
        except AlreadyExists:
            return False
        return True

    def _vector(self) -> dict[str, Any]:
        return {
            "dimensions": self.dimensions,
            "vertex_embedding_config": {
                "model_id": self.model,
                "text_template": TEMPLATE,
                "task_type": "RETRIEVAL_DOCUMENT",
            },
        }

    def _compare(self, client: VectorSearchClient, collection: Any) -> ProvisionResult:  # noqa: ANN401
        """Adds data fields that an older version of Chie lacked; vector fields cannot be changed."""
        if VECTOR not in collection.vector_schema:
            raise self._mismatch(Message("vector_search.vector_field_missing", field=VECTOR))
        vector = collection.vector_schema[VECTOR].dense_vector
        embedding = vector.vertex_embedding_config
        if (embedding.model_id, vector.dimensions) != (self.model, self.dimensions):
            raise self._mismatch(
                Message("vector_search.model_differs", model=embedding.model_id or "-", dimensions=vector.dimensions)
            )
        if embedding.text_template != TEMPLATE:
            raise self._mismatch(Message("vector_search.template_differs"))
        missing = sorted(set(SCHEMA) - set(collection.data_schema["properties"]))
        if not missing:
            return self._result("exists")
        self._add(client, missing)
        return self._result("completed", missing)

    def _add(self, client: VectorSearchClient, missing: list[str]) -> None:
        properties = {name: SCHEMA[name] for name in missing}
        request = {
            "collection": {"name": self.config.name, "data_schema": {"properties": properties}},
            "update_mask": {"paths": [f"data_schema.properties.{name}" for name in missing]},
        }
        self._wait(client, client.administer("update_collection", request))

    def _wait(self, client: VectorSearchClient, operation: Any) -> None:  # noqa: ANN401
        from google.api_core.exceptions import AlreadyExists
        from google.api_core.future.polling import RETRY_PREDICATE
        from google.api_core.retry import Retry

        polling = Retry(
            predicate=RETRY_PREDICATE,
            initial=self.poll_seconds,
            maximum=5 * self.poll_seconds,
            multiplier=1.5,
            timeout=MAX_WAIT_SECONDS,
            on_error=lambda _: self.waiting(),
        )
        with client.translated_errors(AlreadyExists):
            operation.result(polling=polling)

    def _result(self, outcome: Outcome, added: list[str] | None = None) -> ProvisionResult:
        return ProvisionResult(
            name=self.config.name,
            outcome=outcome,
            model=self.model,
            dimensions=self.dimensions,
            added=added or [],
        )

    def _mismatch(self, difference: Message) -> ConfigurationError:
        return ConfigurationError("vector_search.collection_mismatch", name=self.config.name, difference=difference)
