"""A busy machine gets a minute to start a program; one that is known to be away is not waited for."""

import pytest


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chie.chat.toolbox.toolbox.SETTLE_SECONDS", 60.0)
