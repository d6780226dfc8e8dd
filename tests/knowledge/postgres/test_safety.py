"""Changes of notes in PostgreSQL that are interrupted, or made at once."""

from collections.abc import Mapping

import pytest
from tests.contract.note_safety import NoteSafetyContract


@pytest.fixture
def environment(url: str) -> Mapping[str, str]:
    return {"CHIE_DATABASE_URL": url}


class TestSafety(NoteSafetyContract):
    pass
