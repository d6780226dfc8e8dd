"""The page's own tests read what the house really sends."""

import json

import pytest
from tests.chat.recording import FIXTURES, record


@pytest.mark.req("CH-15")
async def test_the_recordings_that_the_pages_tests_use_are_what_the_house_sends() -> None:
    recorded = json.loads(FIXTURES.read_text(encoding="utf-8"))
    assert await record() == recorded, "the house sends something else now: run python -m tests.chat.recording"
