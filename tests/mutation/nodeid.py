"""A pytest plugin: mutmut 3.8 asks a test for its `_nodeid`, which pytest 9.2 has no longer."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item._nodeid = item.nodeid  # type: ignore[attr-defined]
