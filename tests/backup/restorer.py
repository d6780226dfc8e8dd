"""Puts an archive's database in place, and is ended by the system in the middle of writing it."""

import resource
import signal
import sys
from pathlib import Path

from chie.backup import restore as restoring
from chie.backup.database import replace_content
from chie.backup.inventory import find_places

WRITTEN = 1_000_000  # bytes of the new database, which has more


def main() -> None:
    vars(restoring)["replace_content"] = _replace_half
    with restoring.staged(find_places(), Path(sys.argv[1])) as candidate:
        candidate.put_in_place()


def _replace_half(staged: Path, live: Path) -> bool:
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python would make an error of it, which is no sudden end
    resource.setrlimit(resource.RLIMIT_FSIZE, (WRITTEN, WRITTEN))
    return replace_content(staged, live)


if __name__ == "__main__":
    main()
