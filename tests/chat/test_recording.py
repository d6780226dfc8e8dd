"""The recordings that the page's tests use are current."""

import json

import pytest
from tests.chat.recording import FIXTURES, record


@pytest.mark.req("CH-15")
async def test_recordings_match_the_responses() -> None:
    recorded = json.loads(FIXTURES.read_text(encoding="utf-8"))
    assert await record() == recorded, "responses have changed: run python -m tests.chat.recording"
