"""What Chie makes for itself is its owner's alone. What is there already keeps the rights that somebody gave it."""

import os
from pathlib import Path


def make_folder(folder: Path) -> None:
    """With those above it that are wanting; any of them may be the home."""
    for part in reversed((folder, *folder.parents)):
        if not part.is_dir():
            part.mkdir(mode=0o700, exist_ok=True)


def is_open_to_others(file: Path) -> bool:
    """Never where rights are not told by modes."""
    if os.name != "posix":
        return False
    return bool(file.stat().st_mode & 0o004 and file.resolve().parent.stat().st_mode & 0o001)
