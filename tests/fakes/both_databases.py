"""The fixture `store`, once in SQLite and once in PostgreSQL, for tests of what must hold in both."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.fakes.embedders import HashingEmbedder
from tests.fakes.postgres import new_schema, postgres_url, run_server

from chie.knowledge.store.postgres.store import PostgresStore
from chie.knowledge.store.sql_store import SqlNoteStore
from chie.knowledge.store.sqlite.store import SqliteStore

OpenStore = Callable[[], SqlNoteStore]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    yield from run_server()


@pytest.fixture(params=["sqlite", "postgres"])
def open_store(request: pytest.FixtureRequest, home: Path) -> OpenStore:
    """Opens the same database again, as a second process does."""
    if request.param == "sqlite":
        return lambda: SqliteStore(home / "notes.db", HashingEmbedder())
    url = postgres_url(new_schema(request.getfixturevalue("server")))
    return lambda: PostgresStore(url, HashingEmbedder())


@pytest.fixture
def store(open_store: OpenStore) -> Iterator[SqlNoteStore]:
    with closing(open_store()) as store:
        yield store
