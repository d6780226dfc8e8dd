"""Installs an archive's database, and is killed by the system in the middle of writing it."""

import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from chie.backup import restore as restoring
from chie.backup.database import replace_content
from chie.backup.inventory import load_inventory

MAX_WRITTEN_BYTES = 1_000_000  # the new database is larger


def main() -> None:
    vars(restoring)["replace_content"] = _replace_half
    with restoring.unpacked(load_inventory(), Path(sys.argv[1])) as backup:
        backup.install()


def _replace_half(staged: Path, live: Path, keep_current: Callable[[], object]) -> None:
    def keep_then_limit() -> None:
        keep_current()
        _limit()

    replace_content(staged, live, keep_then_limit)


def _limit() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it and would raise OSError instead of dying
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_WRITTEN_BYTES, MAX_WRITTEN_BYTES))


if __name__ == "__main__":
    main()
