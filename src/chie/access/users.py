"""`users.json`: user names and hashes of their tokens. The tokens themselves are not stored."""

import hmac
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from chie.access.identity import ANONYMOUS, User
from chie.errors import ConfigurationError, ConflictError, NotFoundError, ValidationError
from chie.files import locked, make_folder, replacing

TOKEN_PREFIX = "chie_"  # noqa: S105 - lets secret scanners, and people, recognise a leaked token
RESERVED_NAMES = {ANONYMOUS, "chie"}

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")


@dataclass(frozen=True, kw_only=True)
class Entry:
    name: str
    admin: bool
    token_sha256: str
    created_at: str
    spaces: Mapping[str, str] | None = None

    @property
    def user(self) -> User:
        return User(self.name, self.admin, None if self.spaces is None else tuple(sorted(self.spaces.items())))


class UserFile:
    """Reads the file again whenever it changes, so that a running server sees added and revoked users at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, ...] | None = None
        self._entries: tuple[Entry, ...] = ()

    @property
    def exists(self) -> bool:
        return self._path.exists()

    def find(self, token: str) -> User | None:
        """Tokens are long and random, so plain SHA-256 is enough. Every entry is compared, to take constant time."""
        digest = hash_of(token)
        found = None
        for entry in self.entries():
            if hmac.compare_digest(entry.token_sha256, digest):
                found = entry.user
        return found

    def entries(self) -> tuple[Entry, ...]:
        try:
            info = self._path.stat()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise self._unreadable() from error
        state = (info.st_mtime_ns, info.st_size, info.st_ino)
        if state != self._seen:
            self._entries = self._read()
            self._seen = state
        return self._entries

    def add(self, name: str, *, admin: bool = False, spaces: Mapping[str, str] | None = None) -> str:
        """Returns the new token, which cannot be read again later. It is limited to the `spaces`, if there are any."""
        if not _NAME.fullmatch(name) or name.casefold() in RESERVED_NAMES:
            raise ValidationError("access.user_name_invalid", reserved=sorted(RESERVED_NAMES))
        token, entry = _new_entry(name, admin=admin, spaces=spaces)

        def change(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
            if any(entry.name.casefold() == name.casefold() for entry in entries):
                raise ConflictError("access.user_exists", name=name)
            return (*entries, entry)

        self._change(change)
        return token

    def add_token(self, name: str, *, spaces: Mapping[str, str] | None = None) -> str:
        """Another token of a user, who stays an admin only without a limit."""
        token, entry = _new_entry(name, admin=False, spaces=spaces)

        def change(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
            known = [other for other in entries if other.name == name]
            if not known:
                raise NotFoundError("access.user_not_found", name=name)
            admin = spaces is None and any(other.admin for other in known)
            return (*entries, replace(entry, admin=admin))

        self._change(change)
        return token

    def revoke(self, name: str) -> None:
        def change(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
            rest = tuple(entry for entry in entries if entry.name != name)
            if len(rest) == len(entries):
                raise NotFoundError("access.user_not_found", name=name)
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
                "access.users_not_writable", file=str(self._path), reason=error.strerror or ""
            ) from error

    def _write(self, entries: tuple[Entry, ...]) -> None:
        content = json.dumps({"users": [asdict(entry) for entry in entries]}, indent=2) + "\n"
        with replacing(self._path) as draft:
            draft.write_text(content, encoding="utf-8")

    def _read(self) -> tuple[Entry, ...]:
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
            return tuple(_entry(row) for row in content["users"])
        except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
            raise self._unreadable() from error

    def _unreadable(self) -> ConfigurationError:
        return ConfigurationError("access.users_not_readable", file=str(self._path))


def _new_entry(name: str, *, admin: bool, spaces: Mapping[str, str] | None) -> tuple[str, Entry]:
    token = TOKEN_PREFIX + token_urlsafe(32)
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    return token, Entry(name=name, admin=admin, token_sha256=hash_of(token), created_at=moment, spaces=spaces)


def hash_of(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _entry(row: dict[str, Any]) -> Entry:
    if not re.fullmatch("[0-9a-f]{64}", row["token_sha256"]) or not isinstance(row["admin"], bool):
        raise ValueError("not an entry")
    spaces = row.get("spaces")
    if spaces is not None and not all(access in ("read", "write") for access in spaces.values()):
        raise ValueError("not an entry")
    return Entry(
        name=str(row["name"]),
        admin=row["admin"],
        token_sha256=row["token_sha256"],
        created_at=str(row["created_at"]),
        spaces=spaces,
    )
