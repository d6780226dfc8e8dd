"""Creating files and folders. New ones are readable by their owner alone; existing ones keep their permissions."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO


def make_folder(folder: Path) -> None:
    """Create `folder` and its missing parents; any of them may be `CHIE_HOME`."""
    for part in reversed((folder, *folder.parents)):
        if not part.is_dir():
            part.mkdir(mode=0o700, exist_ok=True)


def create_private(file: Path) -> BinaryIO:
    """A new file that only its owner can read, whatever the umask; FileExistsError if there is one."""
    return os.fdopen(_open_new(file, 0o600), "wb")


def copy_private(source: Path, target: Path) -> None:
    """Copy the content alone: permissions of the source may let others read it."""
    with source.open("rb") as content:
        target.unlink(missing_ok=True)
        with create_private(target) as copy:
            shutil.copyfileobj(content, copy)


@contextmanager
def replacing(path: Path, *, private: bool = True) -> Iterator[Path]:
    """Yield an empty draft beside `path`, which replaces it atomically unless the block raises.

    The content is on disk before the rename, so neither a full disk nor a crash leaves a part of it under `path`.
    """
    draft = path.with_name(f".{token_hex(8)}.part")
    os.close(_open_new(draft, 0o600 if private else 0o666))
    try:
        yield draft
        _sync(draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def is_readable_by_others(file: Path) -> bool:
    """False on systems without POSIX permissions."""
    if os.name != "posix":
        return False
    return bool(file.stat().st_mode & 0o004 and file.resolve().parent.stat().st_mode & 0o001)


def _open_new(file: Path, mode: int) -> int:
    return os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), mode)


def _sync(file: Path) -> None:
    with file.open("rb+") as written:
        os.fsync(written.fileno())
