"""A real PostgreSQL with pgvector: one server a module, an empty corner of it a test."""

from collections.abc import Iterator

import pytest
from tests.fakes.embedders import HashingEmbedder
from tests.fakes.postgres import new_schema, postgres_url, run_server

from chie.knowledge.store.postgres.store import PostgresStore


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    yield from run_server()


@pytest.fixture
def url(server: str) -> str:
    return new_schema(server)


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    store = PostgresStore(postgres_url(url), HashingEmbedder())
    yield store
    store.close()
