"""Creating files and folders. New ones are readable by their owner alone; existing ones keep their permissions."""

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

MAX_LOG_BYTES = 10 * 1024 * 1024
ROTATED_FILES = 5  # of each log; `<name>.1` is the newest


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


def append_line(path: Path, line: str, *, rotate: bool = False) -> None:
    """Append to a file that only its owner can read.

    With `rotate`, a full one becomes `<name>.1` first, and the oldest is deleted. Several processes may append to the
    same file.
    """
    content = line.encode("utf-8", "backslashreplace")
    descriptor = _open_to_append(path)
    try:
        if rotate and _is_full(os.fstat(descriptor), len(content)) and _rotate(path, len(content)):
            os.close(descriptor)
            descriptor = _open_to_append(path)
        os.write(descriptor, content)
    finally:
        os.close(descriptor)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lets one process at a time in; the lock is released when the process ends."""
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "w") as file:
        _lock(file.fileno())
        yield


@contextmanager
def try_lock(path: Path) -> Iterator[bool]:
    """Whether no other holder has the lock; it is released with the block, or when the process ends."""
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "w") as file:
        try:
            _lock(file.fileno(), wait=False)
        except OSError:
            yield False
        else:
            yield True


def is_readable_by_others(file: Path) -> bool:
    """False on systems without POSIX permissions."""
    if os.name != "posix":
        return False
    return bool(file.stat().st_mode & 0o004 and file.resolve().parent.stat().st_mode & 0o001)


def _open_new(file: Path, mode: int) -> int:
    return os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), mode)


def _open_to_append(file: Path) -> int:
    return os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)


def _is_full(found: os.stat_result, more: int) -> bool:
    """False for anything but a regular file, such as a terminal."""
    return stat.S_ISREG(found.st_mode) and found.st_size > 0 and found.st_size + more > MAX_LOG_BYTES


def _rotate(path: Path, more: int) -> bool:
    """False if it is not possible; then the file grows. Another process may have rotated it meanwhile."""
    try:
        with locked(path.with_suffix(".lock")):
            if not path.exists() or not _is_full(path.stat(), more):
                return True
            for number in range(ROTATED_FILES, 0, -1):
                younger = path.with_name(f"{path.name}.{number - 1}") if number > 1 else path
                if younger.exists():
                    younger.replace(path.with_name(f"{path.name}.{number}"))
    except OSError:
        return False
    return True


def _lock(descriptor: int, *, wait: bool = True) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sync(file: Path) -> None:
    with file.open("rb+") as written:
        os.fsync(written.fileno())
