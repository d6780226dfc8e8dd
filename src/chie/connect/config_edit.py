"""Adding Chie's servers to a client's configuration file, and removing them."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar
from urllib.parse import urlsplit

from chie.connect.config_file import ConfigFile
from chie.connect.config_paths import config_path
from chie.connect.errors import ConfigSyntaxError, UnsupportedLayoutError
from chie.connect.format import Format
from chie.connect.json_format import JsonFormat
from chie.connect.mcp_clients import McpClient
from chie.connect.receipts import Receipt, Receipts
from chie.connect.toml_format import TomlFormat
from chie.errors import ConflictError, StorageError, ValidationError
from chie.servers import SERVERS

T = TypeVar("T")

PROGRAMS = ("chie", "knowledge-gateway", "mcp-bedrock-kb", "n8n-mcp-server")
UVX_OPTIONS_WITH_VALUE = (
    "--from",
    "--with",
    "--with-editable",
    "--python",
    "-p",
    "--index",
    "--default-index",
    "--find-links",
)
FORMATS: dict[str, Format] = {"json": JsonFormat(), "toml": TomlFormat()}


@dataclass(frozen=True)
class Plan:
    """The text before and after the edit; None means no file."""

    before: str | None
    after: str | None
    receipt: Receipt | None

    @property
    def changes(self) -> bool:
        return self.before != self.after


class ClientConfig:
    def __init__(self, client: McpClient, home: Path, path: Path | None = None) -> None:
        self.client = client
        self.path = path or config_path(client)
        self._file = ConfigFile(self.path)
        self._receipts = Receipts(home)
        self._format = FORMATS[client.language]

    def entries(self) -> dict[str, Any]:
        """Every server in the file."""
        return self._entries(self._file.read() or "")

    def own_entries(self) -> dict[str, dict[str, Any]]:
        """The entries that run or reach Chie, and those that `chie connect` wrote."""
        receipt = self._receipts.get(self.path)
        return {name: entry for name, entry in self.entries().items() if _is_known(name, entry, receipt)}

    def plan_adding(self, added: Mapping[str, dict[str, Any]]) -> Plan:
        before = self._file.read()
        text, receipt = before or "", self._receipts.get(self.path) or Receipt(None)
        for name, entry in added.items():
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
                self._reject_foreign(name, self._entries(text)[name], receipt)
                text = self._without(text, name, receipt)
            receipt = receipt and receipt.without(name)
        return Plan(before, text, receipt)

    def apply(self, plan: Plan) -> Path | None:
        """Write the file; returns the path of the backup, if there was anything to back up."""
        if self._file.read() != plan.before:
            raise ConflictError("connect.file_changed", path=str(self.path))
        backup = self._file.back_up()
        receipt = plan.receipt
        if receipt and self._receipts.get(self.path) is None:
            receipt = Receipt(str(backup) if backup else None, receipt.steps)
        self._file.write(plan.after, seen=plan.before)
        with suppress(StorageError):  # the file is written; without a receipt only an exact undo is lost
            self._receipts.keep(self.path, receipt)
        return backup

    def _without(self, text: str, name: str, receipt: Receipt | None) -> str | None:
        """The original text if only `chie connect` has changed it since, else the text without the entry."""
        original = receipt.original() if receipt else None
        if receipt and original is not None and name in receipt.names() and self._replayed(original, receipt) == text:
            rest = receipt.without(name)
            return None if receipt.backup is None and not rest.steps else self._replayed(original, rest)
        left = self._checked(lambda: self._format.checked_drop(text, self.client.key, name))
        if original is None or self._entries(left) or self.client.key in self._parsed(original):
            return left
        return self._format.checked_clear(left, self.client.key)

    def _replayed(self, text: str, receipt: Receipt) -> str:
        for name, entry in receipt.steps:
            text = self._put(text, name, entry)
        return text

    def _put(self, text: str, name: str, entry: dict[str, Any]) -> str:
        return self._checked(lambda: self._format.checked_put(text, self.client.key, name, entry).apply(text))

    def _parsed(self, text: str) -> dict[str, Any]:
        return self._checked(lambda: self._format.parse(text))

    def _entries(self, text: str) -> dict[str, Any]:
        return self._checked(lambda: self._format.entries(text, self.client.key))

    def _checked(self, work: Callable[[], T]) -> T:
        """Adds the path to errors about the file's text."""
        try:
            return work()
        except ConfigSyntaxError as error:
            raise ValidationError("connect.file_invalid", path=str(self.path), problem=error.reason) from error
        except UnsupportedLayoutError as error:
            raise ValidationError("connect.file_not_editable", path=str(self.path), problem=error.reason) from error

    def _reject_foreign(self, name: str, entry: object, receipt: Receipt | None) -> None:
        if not _is_known(name, entry, receipt):
            raise ValidationError("connect.foreign_server", path=str(self.path), server=name)


def is_own(entry: object) -> bool:
    """Whether the entry runs one of Chie's programs or has one of its URLs; a name or an argument proves nothing."""
    if not isinstance(entry, dict):
        return False
    return _program(entry) in PROGRAMS or _server_in_url(entry) in SERVERS


def _is_known(name: str, entry: object, receipt: Receipt | None) -> bool:
    """An entry also counts as ours if it still runs what the receipt records; clients add fields to it."""
    return is_own(entry) or (
        receipt is not None
        and isinstance(entry, dict)
        and any(
            step == name and all(entry.get(key) == own.get(key) for key in ("command", "args", "url"))
            for step, own in receipt.steps
        )
    )


def _program(entry: dict[str, Any]) -> str:
    """The program's name without folder and version; for uvx, the first argument that is not an option."""
    command, args = entry.get("command"), entry.get("args")
    name = _stem(command) if isinstance(command, str) else ""
    if name != "uvx" or not isinstance(args, list):
        return name
    rest = iter(args)
    for arg in rest:
        if arg in UVX_OPTIONS_WITH_VALUE:
            next(rest, None)
        elif not str(arg).startswith("-"):
            return str(arg).partition("@")[0].partition("[")[0]
    return ""


def _stem(command: str) -> str:
    return PurePosixPath(command.replace("\\", "/")).name.removesuffix(".exe")


def _server_in_url(entry: dict[str, Any]) -> str:
    """SERVER of `http://…/mcp/SERVER`. A bare `/mcp` is common to most MCP servers."""
    try:
        parts = urlsplit(str(entry.get("url", ""))).path.rstrip("/").split("/")
    except ValueError:
        return ""
    return parts[-1] if parts[-2:-1] == ["mcp"] else ""
