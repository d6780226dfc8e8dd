"""Shared by all tests: no network, a home folder per test, a restored log, and generous deadlines."""

import ipaddress
import logging
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent
SLOW = (
    "chat/api/test_openapi.py",
    "docs/test_commands.py",
    "app/test_openapi.py",
    "security/test_hidden_notes.py",
    "chat/runs",
    "privacy/test_nothing_leaves.py",
    "security",
    "e2e",
)
"""Files and folders that take long, the longest first."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A process takes whole files in this order; one that got a long file last would work alone for minutes."""
    items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    return next((at for at, name in enumerate(SLOW) if item.path.is_relative_to(TESTS / name)), len(SLOW))


def _is_local(host: object) -> bool:
    if host in ("localhost", "", None):
        return True
    try:
        return ipaddress.ip_address(str(host)).is_loopback
    except ValueError:
        return False


def _is_address(host: object) -> bool:
    """Its lookup needs no name server."""
    try:
        ipaddress.ip_address(str(host))
    except ValueError:
        return False
    return True


def _block_network(event: str, arguments: tuple[Any, ...]) -> None:
    """Tests may connect to and look up this machine alone."""
    if event == "socket.connect" and isinstance(arguments[1], tuple) and not _is_local(arguments[1][0]):
        raise RuntimeError(f"a test tried to connect to {arguments[1][0]}")
    if event == "socket.getaddrinfo":
        host = arguments[0].decode() if isinstance(arguments[0], bytes) else arguments[0]
        if not (_is_local(host) or _is_address(host)):
            raise RuntimeError(f"a test tried to look up {host}")


sys.addaudithook(_block_network)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as after `nohup make test &`
    # Child processes inherit an ignored signal, but start with the default action where a handler is set.
    signal.signal(signal.SIGINT, lambda *_: None)
# No deadlines, because CI may be slow. The same examples in every run: `make fuzz` looks for new ones.
settings.register_profile("patient", deadline=None, derandomize=True)
settings.load_profile("patient")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty CHIE_HOME, and no `.env` or settings of the developer's own."""
    import os

    for name in list(os.environ):
        if name.startswith(
            ("CHIE_", "AWS_", "BEDROCK_", "N8N_", "OPENAI_", "ANTHROPIC_", "FASTMCP_", "GOOGLE_", "VECTOR_SEARCH_")
        ):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    monkeypatch.setenv("CHIE_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    return home


@pytest.fixture(autouse=True)
def root_log() -> Iterator[None]:
    """Restore the log, which a command sets up for the whole process."""
    root = logging.getLogger()
    chie = logging.getLogger("chie")
    handlers, level, own_level = root.handlers[:], root.level, chie.level
    yield
    for handler in set(root.handlers) - set(handlers):
        handler.close()
    root.handlers[:] = handlers
    chie.setLevel(own_level)
    root.setLevel(level)  # the method, not the attribute: it clears the levels that loggers have cached
