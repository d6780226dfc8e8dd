"""Keeps the hints that a server gave about its tools when they were first seen.

A server may change its hints at any time. One whose tool was refused could call it read-only a moment later and have
it run unasked. So a tool never gets by with fewer questions than at first sight; stricter hints count at once. The
operator accepts a change by deleting the tool from `tool_hints.json`, or by changing the server's entry in
`servers.json`.
"""

import asyncio
import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from chie.chat.toolbox.servers_file import ServerSpec
from chie.chat.toolbox.tool import Tool
from chie.files import locked, make_folder, replacing

logger = logging.getLogger(__name__)

FILE_NAME = "tool_hints.json"
LEVELS = ("read_only", "only_adds", "destructive")  # by the number of questions
MAX_TOOLS = 2_000  # per server; any further ones count as destructive


class HintPins:
    """The pins of one server. Without a `file` they last as long as the process."""

    def __init__(self, server: str, spec: ServerSpec | None = None, file: Path | None = None) -> None:
        self._server = server
        self._entry = _fingerprint(spec) if spec else ""
        self._file = file
        self._levels: dict[str, str] | None = None

    async def apply(self, tools: Sequence[Tool]) -> tuple[Tool, ...]:
        """The tools with the stricter of their first and their present hints."""
        if self._levels is None:
            self._levels = await asyncio.to_thread(self._read)
        levels = self._levels
        pinned = tuple(self._pinned(tool, levels) for tool in tools)
        changed = {tool.original: level for tool in pinned if levels.get(tool.original) != (level := _level(tool))}
        levels.update(dict(list(changed.items())[: max(0, MAX_TOOLS - len(levels))]))
        if changed:
            await asyncio.to_thread(self._write, levels)
        return pinned

    def _pinned(self, tool: Tool, levels: dict[str, str]) -> Tool:
        now = _level(tool)
        first = levels.get(tool.original, now if len(levels) < MAX_TOOLS else LEVELS[-1])
        if LEVELS.index(first) <= LEVELS.index(now):
            return tool
        logger.warning("server %s: %s was %s and is now called %s", self._server, tool.original, first, now)
        return replace(tool, read_only=False, destructive=first == "destructive", destructive_arguments=frozenset())

    def _read(self) -> dict[str, str]:
        saved = _load(self._file).get(self._server) if self._file else None
        if not isinstance(saved, dict) or saved.get("entry") != self._entry or not isinstance(saved.get("tools"), dict):
            return {}
        return {name: level for name, level in saved["tools"].items() if level in LEVELS}

    def _write(self, levels: dict[str, str]) -> None:
        """Another process may have written meanwhile; the stricter level counts."""
        if self._file is None:
            return
        try:
            make_folder(self._file.parent)
            with locked(self._file.with_suffix(".lock")):
                merged = {
                    name: max(level, levels.get(name, level), key=LEVELS.index) for name, level in self._read().items()
                }
                content = _load(self._file)
                content[self._server] = {"entry": self._entry, "tools": dict(sorted({**levels, **merged}.items()))}
                with replacing(self._file) as draft:
                    draft.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        except OSError as error:
            logger.warning("%s cannot be written (%s): hints of tools are kept until the end only", self._file, error)


def _load(file: Path) -> dict[str, Any]:
    """Empty if there is no file or an unreadable one, which the next change replaces."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
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
