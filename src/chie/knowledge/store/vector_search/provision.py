"""The Collection itself: made once, by somebody with admin rights, and compared with what Chie needs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from chie.errors import ConfigurationError
from chie.knowledge.store.vector_search.client import VectorSearchClient
from chie.knowledge.store.vector_search.config import CollectionConfig
from chie.knowledge.store.vector_search.errors import FOUNDING
from chie.knowledge.store.vector_search.objects import SCHEMA, TEMPLATE, VECTOR

# Reads Japanese and English alike. Of its vectors only those in full length have length one, and only of such is the
# product a cosine.
MODEL = "gemini-embedding-001"
DIMENSIONS = 3072

POLLING = 2.0  # seconds between two looks at an operation
LONGEST = 900.0

Outcome = Literal["created", "completed", "exists"]


@dataclass(frozen=True, kw_only=True)
class Founded:
    """What was done, and with which model the Collection reads."""

    name: str
    outcome: Outcome
    model: str
    dimensions: int
    added: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Founder:
    """`waiting` is called at every look at an operation that is not done."""

    config: CollectionConfig
    model: str = MODEL
    dimensions: int = DIMENSIONS
    waiting: Callable[[], None] = lambda: None
    polling: float = POLLING

    def found(self) -> Founded:
        client = VectorSearchClient(self.config, roles=FOUNDING)
        try:
            existing = self._existing(client)
            if existing is None and self._create(client):
                return self._founded("created")
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
        """False where somebody else was first, be it this very call whose answer was lost."""
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

    def _compare(self, client: VectorSearchClient, collection: Any) -> Founded:  # noqa: ANN401
        """Adds data fields that an older Chie did not know; a vector field of another make is not to be changed."""
        if VECTOR not in collection.vector_schema:
            raise self._unfit(f"it has no vector field {VECTOR}")
        vector = collection.vector_schema[VECTOR].dense_vector
        embedding = vector.vertex_embedding_config
        if (embedding.model_id, vector.dimensions) != (self.model, self.dimensions):
            raise self._unfit(f"it reads with {embedding.model_id or 'no model'} in {vector.dimensions} dimensions")
        if embedding.text_template != TEMPLATE:
            raise self._unfit("it reads other fields than Chie writes")
        missing = sorted(set(SCHEMA) - set(collection.data_schema["properties"]))
        if not missing:
            return self._founded("exists")
        self._add(client, missing)
        return self._founded("completed", missing)

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
            initial=self.polling,
            maximum=5 * self.polling,
            multiplier=1.5,
            timeout=LONGEST,
            on_error=lambda _: self.waiting(),
        )
        with client.our_errors(AlreadyExists):
            operation.result(polling=polling)

    def _founded(self, outcome: Outcome, added: list[str] | None = None) -> Founded:
        return Founded(
            name=self.config.name,
            outcome=outcome,
            model=self.model,
            dimensions=self.dimensions,
            added=added or [],
        )

    def _unfit(self, difference: str) -> ConfigurationError:
        return ConfigurationError(
            f"the Collection {self.config.name} exists, but {difference}. Nothing was changed. Name another in "
            "VECTOR_SEARCH_COLLECTION, or give --model and --dimensions as it was made with."
        )
