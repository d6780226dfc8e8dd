"""The key of stored secrets: private, the same for every process, and never half-written."""

import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chie.chat.sessions.secret_box import KEY_FILE, SecretBox
from chie.errors import StorageError

pytestmark = pytest.mark.req("AG-5")


@contextmanager
def full_disk() -> Iterator[None]:
    """No file may become longer than a few bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_key_is_private_and_shared(tmp_path: Path) -> None:
    home = tmp_path / "home"
    token = SecretBox(home).encrypt("合言葉")
    assert "合言葉" not in token
    assert SecretBox(home).decrypt(token) == "合言葉"
    assert stat.S_IMODE((home / KEY_FILE).stat().st_mode) == 0o600


def test_key_that_could_not_be_written_is_made_again(tmp_path: Path) -> None:
    box = SecretBox(tmp_path)
    with full_disk(), pytest.raises(StorageError, match="File too large"):
        box.encrypt("secret")
    assert not (tmp_path / KEY_FILE).exists()
    assert box.decrypt(box.encrypt("secret")) == "secret"


def test_key_that_cannot_be_read_opens_nothing_and_is_not_replaced(tmp_path: Path) -> None:
    token = SecretBox(tmp_path / "other").encrypt("secret")
    box = SecretBox(tmp_path)
    (tmp_path / KEY_FILE).mkdir()
    assert box.decrypt(token) is None
    with pytest.raises(StorageError, match=str(tmp_path)):
        box.encrypt("secret")
