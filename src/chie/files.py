"""What Chie makes for itself is its owner's alone. What is there already keeps the rights that somebody gave it."""

import os
from contextlib import suppress
from pathlib import Path


def make_folder(folder: Path) -> None:
    """With those above it that are wanting; any of them may be the home."""
    for part in reversed((folder, *folder.parents)):
        if not part.is_dir():
            part.mkdir(mode=0o700, exist_ok=True)


def make_database(file: Path) -> None:
    """Empty, which SQLite takes for new: made by SQLite itself, everybody could read it, and its log beside it.

    Where it cannot be made, SQLite will say so in a moment.
    """
    make_folder(file.parent)
    if not str(file).startswith((":memory:", "file:")):  # no names of files, for SQLite
        with suppress(OSError):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def is_open_to_others(file: Path) -> bool:
    """Never where rights are not told by modes."""
    if os.name != "posix":
        return False
    return bool(file.stat().st_mode & 0o004 and file.resolve().parent.stat().st_mode & 0o001)
