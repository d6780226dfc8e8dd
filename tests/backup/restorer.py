"""Puts an archive's database in place, and says so just before it does; the test kills it in the middle."""

import sys
from pathlib import Path

from chie.backup.places import find_places
from chie.backup.restoring import staged


def main() -> None:
    with staged(find_places(), Path(sys.argv[1])) as candidate:
        sys.stdout.write("now\n")
        sys.stdout.flush()
        candidate.put_in_place()
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main()
