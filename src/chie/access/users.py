"""`users.json`: names and the hashes of their tokens. The tokens themselves are nowhere."""

import hmac
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from chie.access.identity import ANONYMOUS, User
from chie.errors import ConfigurationError, ConflictError, NotFoundError, ValidationError
from chie.files import make_folder

PREFIX = "chie_"  # so that scanners for leaked secrets, and people, know what they have found
RESERVED = {ANONYMOUS, "chie"}

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")


@dataclass(frozen=True, kw_only=True)
class Entry:
    name: str
    admin: bool
    token_sha256: str
    created_at: str


class UserFile:
    """Read again whenever it changes, so a running house knows at once who was added or revoked."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, ...] | None = None
        self._entries: tuple[Entry, ...] = ()

    @property
    def exists(self) -> bool:
        return self._path.exists()

    def find(self, token: str) -> User | None:
        """Tokens are long and random, so one round of SHA-256 is enough; every entry is compared, found or not."""
        digest = hash_of(token)
        found = None
        for entry in self.entries():
            if hmac.compare_digest(entry.token_sha256, digest):
                found = User(entry.name, entry.admin)
        return found

    def entries(self) -> tuple[Entry, ...]:
        try:
            about = self._path.stat()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise self._unreadable() from error
        state = (about.st_mtime_ns, about.st_size, about.st_ino)
        if state != self._seen:
            self._entries = self._read()
            self._seen = state
        return self._entries

    def add(self, name: str, *, admin: bool = False) -> str:
        """The new token, which is shown this once."""
        if not _NAME.fullmatch(name) or name.casefold() in RESERVED:
            raise ValidationError(
                "this name cannot be used. Take letters, digits and . _ @ + - (64 at most), beginning with a letter "
                f"or a digit; {' and '.join(sorted(RESERVED))} are taken."
            )
        token = PREFIX + token_urlsafe(32)
        moment = datetime.now(UTC).isoformat(timespec="seconds")

        def change(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
            if any(entry.name.casefold() == name.casefold() for entry in entries):
                raise ConflictError(f"there is a user {name} already. Revoke it first to give it another token.")
            return (*entries, Entry(name=name, admin=admin, token_sha256=hash_of(token), created_at=moment))

        self._change(change)
        return token

    def revoke(self, name: str) -> None:
        def change(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
            rest = tuple(entry for entry in entries if entry.name != name)
            if len(rest) == len(entries):
                raise NotFoundError(f"there is no user {name}. `chie users list` shows who there is.")
            return rest

        self._change(change)

    def _change(self, change: Callable[[tuple[Entry, ...]], tuple[Entry, ...]]) -> None:
        try:
            make_folder(self._path.parent)
            with locked(self._path.with_suffix(".lock")):
                self._seen = None
                self._write(change(self.entries()))
        except OSError as error:
            raise ConfigurationError(
                f"{self._path} cannot be written: {error.strerror}. Free some space, or set CHIE_USERS_FILE."
            ) from error

    def _write(self, entries: tuple[Entry, ...]) -> None:
        """Whole or not at all, and never readable for others, not for a moment."""
        draft = self._path.with_suffix(f".{os.getpid()}.part")
        content = json.dumps({"users": [asdict(entry) for entry in entries]}, indent=2) + "\n"
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._path)

    def _read(self) -> tuple[Entry, ...]:
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
            return tuple(_entry(row) for row in content["users"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._unreadable() from error

    def _unreadable(self) -> ConfigurationError:
        return ConfigurationError(
            f"{self._path} cannot be read as a list of users, so nobody is let in. "
            "Restore it, or move it away and add the users anew with `chie users add`."
        )


def hash_of(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _entry(row: dict[str, Any]) -> Entry:
    if not re.fullmatch("[0-9a-f]{64}", row["token_sha256"]) or not isinstance(row["admin"], bool):
        raise ValueError("not an entry")
    return Entry(
        name=str(row["name"]),
        admin=row["admin"],
        token_sha256=row["token_sha256"],
        created_at=str(row["created_at"]),
    )


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time; the lock goes with the process that holds it."""
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "w") as file:
        _lock(file.fileno())
        yield


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)
