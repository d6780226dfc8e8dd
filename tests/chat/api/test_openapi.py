"""The OpenAPI document is true: Schemathesis tries to break every route with what the document allows and forbids."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance
from sqlalchemy import URL
from tests.fakes.agents import FakeDirectory
from tests.fakes.chat import sqlite_url
from tests.fakes.chat_process import chat_process

from chie.chat.app import create_app

EXAMPLES = 6


@pytest.fixture
def address(both: URL) -> Iterator[str]:
    with chat_process(both) as (address, _):
        yield address


def test_every_route_keeps_to_the_document(address: str) -> None:
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
    tried = 0
    for found in schema.get_all_operations():
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            tried += _try(found, mode)
    assert tried > 20 * EXAMPLES


def _try(found: Any, mode: GenerationMode) -> int:
    tried = 0

    @given(case=found.ok().as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def run(case: Case[Any]) -> None:
        nonlocal tried
        tried += 1
        # Some of what a schema allows is refused with reason: a cursor of no page, a parent without its session.
        case.call_and_validate(excluded_checks=[positive_data_acceptance])

    with suppress(Unsatisfiable):  # a route without parameters cannot be asked wrongly
        run()
    return tried


def test_no_route_tells_of_a_422(tmp_path: Path) -> None:
    document = create_app(FakeDirectory(), url=sqlite_url(tmp_path)).openapi()
    answers = [set(route["responses"]) for path in document["paths"].values() for route in path.values()]
    assert len(answers) >= 15
    assert all("422" not in codes and "400" in codes and "500" in codes for codes in answers)
