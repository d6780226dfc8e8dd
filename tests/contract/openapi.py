"""An OpenAPI document is true: Schemathesis tries to break its routes with what it allows and forbids."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

LISTS_IN_THE_ADDRESS = ("/api/knowledge/search",)  # where a list of one word is written as the word alone is

FILES = ("/api/attachments", "/api/sessions/import")  # where any value is the bytes of a file


def try_routes(
    address: str, *, examples: int, chosen: Callable[[str], bool] = lambda _: True, ask_others: tuple[str, ...] = ()
) -> int:
    """How many requests were sent to the routes whose path is chosen. Those that ask others may fail for them."""
    # The document is put together with its first request, after an import of every route.
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json", timeout=60)
    every: list[Any] = list(schema.get_all_operations())
    operations = [found for found in every if chosen(found.ok().path)]
    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    return sum(_try(found, mode, examples, ask_others) for found in operations for mode in modes)


def _try(found: Any, mode: GenerationMode, examples: int, ask_others: tuple[str, ...]) -> int:
    tried = 0
    # Some of what a schema allows is refused with reason: a cursor of no page, a parent without its session.
    excused: list[Any] = [positive_data_acceptance]
    if found.ok().path.startswith(ask_others):
        excused.append(not_a_server_error)
    if found.ok().path.startswith(LISTS_IN_THE_ADDRESS + FILES):
        excused.append(negative_data_rejection)

    @given(case=found.ok().as_strategy(generation_mode=mode))
    @settings(
        max_examples=examples,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def run(case: Case[Any]) -> None:
        nonlocal tried
        tried += 1
        answer = case.call_and_validate(excluded_checks=excused)
        assert b"failed inside Chie" not in answer.content

    with suppress(Unsatisfiable):  # a route without parameters cannot be asked wrongly
        run()
    return tried
