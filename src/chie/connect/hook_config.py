"""Chie's hooks in the configuration of Codex, Gemini CLI and Cursor, next to hooks of others."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chie.connect.config_edit import Plan
from chie.connect.config_file import ConfigFile
from chie.connect.config_paths import config_path
from chie.connect.errors import ConfigSyntaxError, UnsupportedLayoutError
from chie.connect.json_format import JsonFormat
from chie.connect.mcp_clients import McpClient
from chie.connect.program import hook_command
from chie.connect.receipts import Receipt, Receipts
from chie.errors import StorageError, ValidationError

KEY = "hooks"
NOTE_TOOLS = "(save|update|get)_knowledge"


@dataclass(frozen=True)
class HookClient:
    """`events` has the matcher of each event, None for all; `file` is beside the client's list of servers.

    `template` is the text of a new file; `nested` if hooks are grouped under a matcher.
    """

    file: str
    events: Mapping[str, str | None]
    timeout: int
    template: str = ""
    nested: bool = True
    next_step: str = ""

    def entry(self, client: str, event: str) -> dict[str, Any]:
        matcher = self.events[event]
        found: dict[str, Any] = {"matcher": matcher} if matcher else {}
        hook: dict[str, Any] = {"command": hook_command(client, event), "timeout": self.timeout}
        return {**found, "hooks": [{"type": "command", **hook}]} if self.nested else {**hook, **found}


HOOK_CLIENTS = {
    "codex": HookClient(
        "hooks.json",
        {
            "SessionStart": None,
            "UserPromptSubmit": None,
            "PreToolUse": "apply_patch",
            "PostToolUse": f"Bash|mcp__.*__{NOTE_TOOLS}",
            "Stop": None,
            "SessionEnd": None,
        },
        timeout=2,
        next_step="Start `codex` and trust the hooks with `/hooks`: until then it does not run them.",
    ),
    "gemini": HookClient(
        "settings.json",
        {
            "SessionStart": None,
            "BeforeAgent": None,
            "AfterTool": f"run_shell_command|read_file|replace|write_file|mcp_.*{NOTE_TOOLS}",
            "AfterAgent": None,
            "SessionEnd": None,
        },
        timeout=2000,
    ),
    "cursor": HookClient(
        "hooks.json",
        {
            "sessionStart": None,
            "beforeSubmitPrompt": None,
            "postToolUse": f"Shell|Read|Write|MCP:{NOTE_TOOLS}",
            "postToolUseFailure": "Shell",
            "stop": None,
            "sessionEnd": None,
        },
        timeout=2,
        template='{\n  "version": 1\n}\n',
        nested=False,
    ),
}


class HookConfig:
    """An edit is a text edit, as for servers: other hooks and everything else stay as they are."""

    def __init__(self, client: McpClient, home: Path) -> None:
        self.client = client
        self.hooks = HOOK_CLIENTS[client.id]
        self.path = config_path(client).with_name(self.hooks.file)
        self._file = ConfigFile(self.path)
        self._receipts = Receipts(home)
        self._record = self.path.with_name(f"{self.path.name}#{KEY}")  # Gemini's servers are in the same file
        self._format = JsonFormat()

    def is_connected(self) -> bool:
        return self._events(self._file.read() or "") == set(self.hooks.events)

    def has_any(self) -> bool:
        return bool(self._events(self._file.read() or ""))

    def commands(self) -> list[str]:
        """The command lines of our hooks in the file."""
        entries = self._entries(self._file.read() or "")
        own = [item for event, items in entries.items() for item in _items(items) if self._is_own(event, item)]
        return [line for item in own for line in _lines(item)]

    def plan_adding(self) -> Plan:
        before = self._file.read()
        text = self._start(before)
        receipt = self._receipts.get(self._record) or Receipt(None)
        for event in self.hooks.events:
            wanted = [*self._foreign(text, event), self.hooks.entry(self.client.id, event)]
            if self._entries(text).get(event) != wanted:
                text = self._put(text, event, wanted)
                receipt = receipt.with_step(event, {"items": wanted})
        return Plan(before, before if text == (before or "") else text, receipt)

    def plan_removing(self) -> Plan:
        before = self._file.read()
        receipt = self._receipts.get(self._record)
        if before is None or not self._events(before):
            return Plan(before, before, None)
        if receipt and self._replayed(receipt) == before:
            return Plan(before, receipt.original() if receipt.backup else None, None)
        text = before
        for event in self._events(before):
            text = self._without(text, event)
        return Plan(before, self._format.checked_clear(text, KEY) if not self._entries(text) else text, None)

    def apply(self, plan: Plan) -> Path | None:
        """Write the file; returns the path of the backup, if there was anything to back up."""
        backup = self._file.back_up()
        receipt = plan.receipt
        if receipt and self._receipts.get(self._record) is None:
            receipt = Receipt(str(backup) if backup else None, receipt.steps)
        self._file.write(plan.after, seen=plan.before)
        with suppress(StorageError):  # the file is written; without a receipt only an exact undo is lost
            self._receipts.keep(self._record, receipt)
        return backup

    def render(self) -> dict[str, Any]:
        return {KEY: {event: [self.hooks.entry(self.client.id, event)] for event in self.hooks.events}}

    def _start(self, text: str | None) -> str:
        return self.hooks.template if text is None or not text.strip("\ufeff \t\r\n") else text

    def _replayed(self, receipt: Receipt) -> str | None:
        original = receipt.original()
        if original is None:
            return None
        text = self._start(original)
        for event, step in receipt.steps:
            text = self._put(text, event, step.get("items"))
        return text

    def _without(self, text: str, event: str) -> str:
        left = self._foreign(text, event)
        return self._put(text, event, left) if left else self._format.checked_drop(text, KEY, event)

    def _put(self, text: str, event: str, items: Any) -> str:  # noqa: ANN401 - JSON
        try:
            return self._format.checked_put(text, KEY, event, items).apply(text)
        except UnsupportedLayoutError as error:
            raise ValidationError("connect.file_not_editable", path=str(self.path), problem=error.reason) from error

    def _events(self, text: str) -> set[str]:
        found = self._entries(text).items()
        return {event for event, items in found if any(self._is_own(event, item) for item in _items(items))}

    def _foreign(self, text: str, event: str) -> list[Any]:
        return [item for item in _items(self._entries(text).get(event)) if not self._is_own(event, item)]

    def _entries(self, text: str) -> dict[str, Any]:
        try:
            return self._format.entries(text, KEY)
        except ConfigSyntaxError as error:
            raise ValidationError("connect.file_invalid", path=str(self.path), problem=error.reason) from error
        except UnsupportedLayoutError as error:
            raise ValidationError("connect.file_not_editable", path=str(self.path), problem=error.reason) from error

    def _is_own(self, event: str, item: object) -> bool:
        ending = f" hook {self.client.id} {event}"
        return any("chie" in line and line.endswith(ending) for line in _lines(item))


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _lines(item: object) -> list[str]:
    """The command lines of a hook, or of a group of hooks."""
    if not isinstance(item, dict):
        return []
    hooks = [item, *(hook for hook in _items(item.get("hooks")) if isinstance(hook, dict))]
    return [hook["command"] for hook in hooks if isinstance(hook.get("command"), str)]
