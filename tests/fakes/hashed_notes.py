"""Fixtures of tests that need notes, but not the model that we ship, which takes longer to load and to embed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.fakes.embedders import HashingEmbedder

from chie.app import create_app
from chie.knowledge.server import create_server
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore


@pytest.fixture
def store(home: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(home / "chie.db", HashingEmbedder())
    yield store
    store.close()


@pytest.fixture
def service(store: SqliteStore) -> KnowledgeService:
    return KnowledgeService(store)


@pytest.fixture
def page(store: SqliteStore) -> Iterator[TestClient]:
    with TestClient(create_app({"knowledge": create_server(store=store)}), base_url="http://127.0.0.1:8080") as client:
        yield client
