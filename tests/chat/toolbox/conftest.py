"""A busy machine gets a minute to start a program."""

import pytest


@pytest.fixture(autouse=True)
def long_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chie.chat.toolbox.toolbox.SETTLE_TIMEOUT_SECONDS", 60.0)
