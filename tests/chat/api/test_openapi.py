"""The OpenAPI document is true: Schemathesis tries to break every route with what the document allows and forbids."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL
from tests.contract.openapi import try_routes
from tests.fakes.agents import FakeRegistry
from tests.fakes.chat import create_chat_app, sqlite_url
from tests.fakes.chat_process import chat_process

EXAMPLES = 4


@pytest.fixture
def address(both: URL) -> Iterator[str]:
    with chat_process(both) as (address, _):
        yield address


def test_every_route_keeps_to_the_document(address: str) -> None:
    assert try_routes(address, examples=EXAMPLES) > 20 * EXAMPLES


def test_no_route_tells_of_a_422(tmp_path: Path) -> None:
    document = create_chat_app(FakeRegistry(), sqlite_url(tmp_path)).openapi()
    answers = [set(route["responses"]) for path in document["paths"].values() for route in path.values()]
    assert len(answers) >= 15
    assert all("422" not in codes and "400" in codes and "500" in codes for codes in answers)
