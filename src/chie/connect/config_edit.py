"""A host's configuration with our servers in it: what connecting and disconnecting would make of its text."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar
from urllib.parse import urlsplit

from chie.connect.config_paths import config_path
from chie.connect.file import ConfigFile
from chie.connect.format import Format
from chie.connect.json_format import JsonFormat
from chie.connect.mcp_clients import Host
from chie.connect.receipts import Receipt, Receipts
from chie.connect.text import BrokenTextError, UnsuitedTextError
from chie.connect.toml_format import TomlFormat
from chie.errors import ConflictError, StorageError, ValidationError
from chie.servers import SERVERS

T = TypeVar("T")

PROGRAMS = ("chie", "knowledge-gateway", "mcp-bedrock-kb", "n8n-mcp-server")
WITH_VALUE = ("--from", "--with", "--with-editable", "--python", "-p", "--index", "--default-index", "--find-links")
FORMATS: dict[str, Format] = {"json": JsonFormat(), "toml": TomlFormat()}


@dataclass(frozen=True)
class Plan:
    """The text as it is and as it would be; None is no file."""

    before: str | None
    after: str | None
    receipt: Receipt | None

    @property
    def changes(self) -> bool:
        return self.before != self.after


class Connection:
    def __init__(self, host: Host, home: Path, path: Path | None = None) -> None:
        self.host = host
        self.path = path or config_path(host)
        self._file = ConfigFile(self.path)
        self._receipts = Receipts(home)
        self._format = FORMATS[host.language]

    def entries(self) -> dict[str, Any]:
        """Every server that the host knows, ours and others'."""
        return self._entries(self._file.read() or "")

    def ours(self) -> dict[str, dict[str, Any]]:
        """Those that are Chie's, whoever wrote them there, and those that `chie connect` wrote."""
        receipt = self._receipts.get(self.path)
        return {name: entry for name, entry in self.entries().items() if _is_known(name, entry, receipt)}

    def plan_adding(self, wanted: Mapping[str, dict[str, Any]]) -> Plan:
        before = self._file.read()
        text, receipt = before or "", self._receipts.get(self.path) or Receipt(None)
        for name, entry in wanted.items():
            if self._entries(text).get(name) != entry:
                text = self._put(text, name, entry)
                receipt = receipt.with_step(name, entry)
        return Plan(before, before if text == (before or "") else text, receipt)

    def plan_removing(self, names: tuple[str, ...]) -> Plan:
        before = self._file.read()
        receipt = self._receipts.get(self.path)
        text: str | None = before
        for name in names:
            if text is not None and name in self._entries(text):
                self._refuse_foreign(name, self._entries(text)[name], receipt)
                text = self._without(text, name, receipt)
            receipt = receipt and receipt.without(name)
        return Plan(before, text, receipt)

    def carry_out(self, plan: Plan) -> Path | None:
        """The copy of what was there, if anything was."""
        if self._file.read() != plan.before:
            raise ConflictError(f"{self.path} was changed by somebody else just now, so it was left alone. Try again.")
        backup = self._file.back_up()
        receipt = plan.receipt
        if receipt and self._receipts.get(self.path) is None:
            receipt = Receipt(str(backup) if backup else None, receipt.steps)
        self._file.write(plan.after, seen=plan.before)
        with suppress(StorageError):  # the file is written; without a memory of it, the way back is less exact
            self._receipts.keep(self.path, receipt)
        return backup

    def _without(self, text: str, name: str, receipt: Receipt | None) -> str | None:
        """As the file would be had we never come, where nobody else changed it since; else without the entry."""
        original = receipt.original() if receipt else None
        if receipt and original is not None and name in receipt.names() and self._replayed(original, receipt) == text:
            rest = receipt.without(name)
            return None if receipt.backup is None and not rest.steps else self._replayed(original, rest)
        left = self._guarded(lambda: self._format.checked_drop(text, self.host.key, name))
        if original is None or self._entries(left) or self.host.key in self._parsed(original):
            return left
        return self._format.checked_clear(left, self.host.key)

    def _replayed(self, text: str, receipt: Receipt) -> str:
        for name, entry in receipt.steps:
            text = self._put(text, name, entry)
        return text

    def _put(self, text: str, name: str, entry: dict[str, Any]) -> str:
        return self._guarded(lambda: self._format.checked_put(text, self.host.key, name, entry).apply(text))

    def _parsed(self, text: str) -> dict[str, Any]:
        return self._guarded(lambda: self._format.parse(text))

    def _entries(self, text: str) -> dict[str, Any]:
        return self._guarded(lambda: self._format.entries(text, self.host.key))

    def _guarded(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except BrokenTextError as error:
            raise ValidationError(
                f"{self.path} is broken, so it was left alone: {error.message} Mend it there, then try again."
            ) from error
        except UnsuitedTextError as error:
            raise ValidationError(f"{self.path} was left alone: {error.message}") from error

    def _refuse_foreign(self, name: str, entry: object, receipt: Receipt | None) -> None:
        if not _is_known(name, entry, receipt):
            raise ValidationError(
                f"{self.path} has a server {name} that is not ours, so it was left alone. Take it out by hand."
            )


def is_ours(entry: object) -> bool:
    """By the program or the address; the name alone may be somebody else's, and so may a word among the arguments."""
    if not isinstance(entry, dict):
        return False
    return _program(entry) in PROGRAMS or _room(entry) in SERVERS


def _is_known(name: str, entry: object, receipt: Receipt | None) -> bool:
    """A receipt tells of what we wrote; hosts add fields to it, but another server may have taken its name since."""
    return is_ours(entry) or (
        receipt is not None
        and isinstance(entry, dict)
        and any(
            step == name and all(entry.get(key) == ours.get(key) for key in ("command", "args", "url"))
            for step, ours in receipt.steps
        )
    )


def _program(entry: dict[str, Any]) -> str:
    """What is run in the end, without folder and version: for uvx, its first word that is no option."""
    command, args = entry.get("command"), entry.get("args")
    name = _stem(command) if isinstance(command, str) else ""
    if name != "uvx" or not isinstance(args, list):
        return name
    words = iter(args)
    for word in words:
        if word in WITH_VALUE:
            next(words, None)
        elif not str(word).startswith("-"):
            return str(word).partition("@")[0].partition("[")[0]
    return ""


def _stem(command: str) -> str:
    return PurePosixPath(command.replace("\\", "/")).name.removesuffix(".exe")


def _room(entry: dict[str, Any]) -> str:
    """Of a house's address, http://…/mcp/ROOM, the room; a bare /mcp is what most servers of others have."""
    try:
        parts = urlsplit(str(entry.get("url", ""))).path.rstrip("/").split("/")
    except ValueError:
        return ""
    return parts[-1] if parts[-2:-1] == ["mcp"] else ""
