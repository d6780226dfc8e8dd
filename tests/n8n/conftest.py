"""A fake n8n of each generation, and a client in each protocol era."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from tests.fakes.n8n import KEY, FakeN8n
from tests.fakes.n8n_mcp import TOKEN
from tests.n8n.caller import Caller, Era, Instance, calling


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def new_n8n() -> Iterator[FakeN8n]:
    with FakeN8n(2) as fake:
        yield fake


@pytest.fixture(scope="module")
def old_n8n() -> Iterator[FakeN8n]:
    with FakeN8n(1) as fake:
        yield fake


@pytest.fixture
def fake(new_n8n: FakeN8n) -> FakeN8n:
    return new_n8n.reset()


@pytest.fixture
def instance(fake: FakeN8n) -> Instance:
    return Instance(fake.url, KEY, old=fake.generation == 1)


@pytest.fixture
def era() -> Era:
    return "auto"


@pytest.fixture
def settings() -> dict[str, Any]:
    return {}


@pytest.fixture
async def call(instance: Instance, era: Era, settings: dict[str, Any], tmp_path: Path) -> AsyncIterator[Caller]:
    async with calling(instance, tmp_path, era=era, **settings) as caller:
        yield caller


@pytest.fixture
async def known(instance: Instance, tmp_path: Path) -> AsyncIterator[Caller]:
    """A caller with the token of n8n's own MCP server."""
    async with calling(instance, tmp_path, mcp_token=SecretStr(TOKEN)) as caller:
        yield caller
