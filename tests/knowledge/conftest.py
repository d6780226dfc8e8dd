from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from starlette.testclient import TestClient

from chie.app import create_app
from chie.knowledge.embedding.base import Embedder
from chie.knowledge.embedding.cached import CachedEmbedder
from chie.knowledge.embedding.onnx import OnnxEmbedder
from chie.knowledge.server import create_server
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    """The model that we ship, loaded once."""
    return CachedEmbedder(OnnxEmbedder())


@pytest.fixture
def real_store(home: Path, embedder: Embedder) -> Iterator[SqliteStore]:
    store = SqliteStore(home / "chie.db", embedder)
    yield store
    store.close()


@pytest.fixture
def service(real_store: SqliteStore) -> KnowledgeService:
    return KnowledgeService(real_store)


@pytest.fixture(params=["auto", "legacy"])
async def client(request: pytest.FixtureRequest, real_store: SqliteStore) -> AsyncIterator[Client[Any]]:
    """An assistant connected to knowledge-gateway, once in each era of the protocol."""
    async with Client(create_server(store=real_store), mode=request.param) as client:
        yield client


@pytest.fixture
def page(real_store: SqliteStore) -> Iterator[TestClient]:
    """The app over HTTP, with the model that we ship."""
    app = create_app({"knowledge": create_server(store=real_store)})
    with TestClient(app, base_url="http://127.0.0.1:8080") as client:
        yield client
