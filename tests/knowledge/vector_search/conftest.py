from collections.abc import Callable, Iterator
from itertools import count

import pytest
from tests.fakes.vector_search import FakeVectorSearch, vector_search
from tests.fakes.vector_search_data import Kept

from chie.knowledge.store.vector_search.client import VectorSearchClient
from chie.knowledge.store.vector_search.config import CollectionConfig
from chie.knowledge.store.vector_search.provision import CollectionProvisioner
from chie.knowledge.store.vector_search.store import VectorSearchStore

NUMBERS = count()


@pytest.fixture(scope="module")
def running() -> Iterator[FakeVectorSearch]:
    with vector_search() as service:
        yield service


@pytest.fixture
def service(running: FakeVectorSearch) -> Iterator[FakeVectorSearch]:
    yield running
    running.injected.clear()
    running.page = 1000


@pytest.fixture
def fresh_store(service: FakeVectorSearch) -> Callable[[], VectorSearchStore]:
    """A store with its own Collection."""

    def make() -> VectorSearchStore:
        config = CollectionConfig(
            project="p", location="us-central1", collection=f"notes-{next(NUMBERS)}", emulator=service.address
        )
        CollectionProvisioner(config=config).provision()
        return VectorSearchStore(config)

    return make


@pytest.fixture
def store(fresh_store: Callable[[], VectorSearchStore]) -> Iterator[VectorSearchStore]:
    store = fresh_store()
    yield store
    store.close()


@pytest.fixture
def impatient_store(store: VectorSearchStore) -> VectorSearchStore:
    """The same store with a short timeout."""
    config = store._client.config
    return VectorSearchStore(config, client=VectorSearchClient(config, timeout=1))


@pytest.fixture
def kept(service: FakeVectorSearch, store: VectorSearchStore) -> dict[str, Kept]:
    """The stored objects by id."""
    return service.data.objects[store._client.config.name]
