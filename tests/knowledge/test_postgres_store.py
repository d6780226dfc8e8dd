"""The store in PostgreSQL: the contract on a real server, and what only a server can get wrong."""

from collections.abc import Callable, Iterator

import pytest
from tests.contract.note_store import NoteStoreContract
from tests.fakes.embedders import HashingEmbedder
from tests.fakes.postgres import new_schema, run_server

from chie.knowledge.store.base import NoteStore
from chie.knowledge.store.postgres.store import PostgresStore


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    yield from run_server()


@pytest.fixture
def url(server: str) -> str:
    return new_schema(server)


@pytest.fixture
def store(url: str) -> Iterator[NoteStore]:
    store = PostgresStore(url, HashingEmbedder())
    yield store
    store.close()


@pytest.fixture
def fresh_store(server: str) -> Callable[[], NoteStore]:
    return lambda: PostgresStore(new_schema(server), HashingEmbedder())


class TestContract(NoteStoreContract):
    pass
