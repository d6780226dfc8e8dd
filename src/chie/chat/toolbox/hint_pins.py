"""Keeps what a server said about its tools when they were first seen.

A server may change its tools at any time. One whose tool was refused could call it read-only a moment later and have
it run unasked. So a tool never gets by with fewer questions than at first sight; stricter hints count at once. A tool
whose description, schema or hints have changed also loses the operator's approvals, which were given to another tool
under the same name. The operator accepts a change on the servers page, by deleting the tool from `tool_hints.json`, or
by changing the server's entry in `servers.json`.
"""

import asyncio
import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from chie.chat.toolbox.servers_file import ServerSpec
from chie.chat.toolbox.tool import Tool
from chie.files import locked, make_folder, replacing

logger = logging.getLogger(__name__)

FILE_NAME = "tool_hints.json"
LEVELS = ("read_only", "only_adds", "destructive")  # by the number of questions
MAX_TOOLS = 2_000  # per server; any further ones count as destructive


@dataclass
class _Pins:
    """By tool: the strictest level so far, and the definition that was accepted."""

    levels: dict[str, str] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)

    def can_hold(self, tool: Tool) -> bool:
        return tool.original in self.levels or len(self.levels) < MAX_TOOLS

    def add(self, tool: Tool) -> bool:
        """Whether anything is new."""
        before = self.levels.get(tool.original), self.definitions.get(tool.original)
        self.levels[tool.original] = _level(tool)
        self.definitions.setdefault(tool.original, tool.definition)
        return before != (self.levels[tool.original], self.definitions[tool.original])


class HintPins:
    """The pins of one server. Without a `file` they last as long as the process."""

    def __init__(self, server: str, spec: ServerSpec | None = None, file: Path | None = None) -> None:
        self._server = server
        self._entry = _fingerprint(spec) if spec else ""
        self._file = file
        self._pins = _Pins()
        self._reported: set[tuple[str, str]] = set()
        self._read_at: int | None = None  # the file's modification time when it was last read or written

    async def apply(self, tools: Sequence[Tool]) -> tuple[Tool, ...]:
        """The tools with the stricter of their first and their present hints, marked if they have changed."""
        await asyncio.to_thread(self._refresh)
        pinned = tuple(self._pinned(tool) for tool in tools)
        news = [self._pins.add(tool) for tool in pinned if self._pins.can_hold(tool)]
        if any(news):
            await asyncio.to_thread(self._write)
        return pinned

    async def accept(self, tools: Sequence[Tool]) -> None:
        """Forget what these tools were: the next `apply` pins them as they are."""
        await asyncio.to_thread(self._write, {tool.original for tool in tools})

    def _pinned(self, tool: Tool) -> Tool:
        now = _level(tool)
        is_held = self._pins.can_hold(tool)
        first = self._pins.levels.get(tool.original, now if is_held else LEVELS[-1])
        changed = self._pins.definitions.get(tool.original, tool.definition) != tool.definition
        if changed:
            self._report(tool)
            tool = replace(tool, changed=True)
        if LEVELS.index(first) <= LEVELS.index(now):
            return tool
        logger.warning("server %s: %s was %s and is now called %s", self._server, tool.original, first, now)
        return replace(tool, read_only=False, destructive=first == "destructive", destructive_arguments=frozenset())

    def _report(self, tool: Tool) -> None:
        if (tool.original, tool.definition) not in self._reported:
            if len(self._reported) < MAX_TOOLS:
                self._reported.add((tool.original, tool.definition))
            logger.warning("server %s: the definition of %s has changed", self._server, tool.original)

    def _refresh(self) -> None:
        """Another process, or the operator, may have changed the file."""
        if self._file is not None and (modified := _modified(self._file)) != self._read_at:
            self._pins, self._read_at = self._read(), modified

    def _read(self) -> _Pins:
        saved = _load(self._file).get(self._server) if self._file else None
        if not isinstance(saved, dict) or saved.get("entry") != self._entry or not isinstance(saved.get("tools"), dict):
            return _Pins()
        definitions = saved.get("definitions")
        return _Pins(
            {name: level for name, level in saved["tools"].items() if level in LEVELS},
            {name: str(one) for name, one in definitions.items()} if isinstance(definitions, dict) else {},
        )

    def _write(self, forgotten: "set[str] | None" = None) -> None:
        """Another process may have written meanwhile: its definitions and the stricter levels count."""
        for name in forgotten or ():
            self._pins.levels.pop(name, None)
            self._pins.definitions.pop(name, None)
        if self._file is None:
            return
        try:
            make_folder(self._file.parent)
            with locked(self._file.with_suffix(".lock")):
                self._merge(self._read(), forgotten or set())
                content = _load(self._file)
                content[self._server] = {
                    "entry": self._entry,
                    "tools": dict(sorted(self._pins.levels.items())),
                    "definitions": dict(sorted(self._pins.definitions.items())),
                }
                with replacing(self._file) as draft:
                    draft.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
                self._read_at = _modified(self._file)
        except OSError as error:
            logger.warning("%s cannot be written (%s): hints of tools are kept until the end only", self._file, error)

    def _merge(self, others: _Pins, forgotten: set[str]) -> None:
        levels = self._pins.levels
        stricter = {
            name: max(level, levels.get(name, level), key=LEVELS.index) for name, level in others.levels.items()
        }
        levels.update({name: level for name, level in stricter.items() if name not in forgotten})
        definitions = {name: one for name, one in others.definitions.items() if name not in forgotten}
        self._pins.definitions.update(definitions)


def _modified(file: Path) -> int | None:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return None


def _load(file: Path) -> dict[str, Any]:
    """Empty if there is no file or an unreadable one, which the next change replaces."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        logger.warning("%s cannot be read (%s)", file, type(error).__name__)
        return {}
    return content if isinstance(content, dict) else {}


def _level(tool: Tool) -> str:
    if tool.read_only:
        return "read_only"
    return "destructive" if tool.destructive else "only_adds"


def _fingerprint(spec: ServerSpec) -> str:
    """Of what is started or called. Arguments may hold secrets, so only a hash is stored."""
    program = [spec.command, list(spec.args), str(spec.cwd) if spec.cwd else None, spec.url]
    return hashlib.sha256(json.dumps(program).encode()).hexdigest()[:16]
