"""The store in Vector Search 2.0: the contract, through Google's own client, and what only a service can get wrong."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest
from tests.contract.note_store import NoteStoreContract
from tests.fakes.vector_search import FakeVectorSearch, vector_search

from chie.knowledge.store.base import NoteStore
from chie.knowledge.store.vector_search.client import VectorSearchClient
from chie.knowledge.store.vector_search.config import CollectionConfig
from chie.knowledge.store.vector_search.founding import Founder
from chie.knowledge.store.vector_search.store import VectorSearchStore


@pytest.fixture(scope="module")
def service() -> Iterator[FakeVectorSearch]:
    with vector_search() as service:
        yield service


NUMBERS = count()


@pytest.fixture
def fresh_store(service: FakeVectorSearch) -> Callable[[], VectorSearchStore]:
    """Each with a Collection of its own."""

    def make() -> VectorSearchStore:
        config = CollectionConfig(
            project="p", location="us-central1", collection=f"notes-{next(NUMBERS)}", emulator=service.address
        )
        Founder(config=config).found()
        return VectorSearchStore(config, client=VectorSearchClient(config, patience=2))

    return make


@pytest.fixture
def store(fresh_store: Callable[[], VectorSearchStore]) -> Iterator[NoteStore]:
    store = fresh_store()
    yield store
    store.close()


@pytest.mark.req("KG-9")
class TestContract(NoteStoreContract):
    pass
