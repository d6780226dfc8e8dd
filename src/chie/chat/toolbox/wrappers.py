"""Wrappers around a toolset: filters, unique names, approvals and shorter results."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from chie.chat.toolbox.tool import Outcome, Tool, Toolset, callable_name

NAME_FORMATS = ("{tool}", "{server}_{tool}", "{server}/{tool}")  # a tool gets the first one that is unique


class Wrapper(Toolset):
    def __init__(self, inner: Toolset) -> None:
        self._inner = inner

    def tools(self) -> Sequence[Tool]:
        return self._inner.tools()

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> Outcome:
        return await self._inner.call(tool, arguments)

    async def normalized(self, tool: Tool, arguments: dict[str, Any]) -> dict[str, Any] | Outcome:
        return await self._inner.normalized(tool, arguments)

    async def preview(self, tool: Tool, arguments: dict[str, Any]) -> dict[str, Any] | None:
        return await self._inner.preview(tool, arguments)


class UniqueNames(Wrapper):
    """Tools with the same name on several servers get their server's name as a prefix."""

    def tools(self) -> Sequence[Tool]:
        """The last format cannot collide: names contain no slash, so it is replaced by a hash of the whole name."""
        tools = self._inner.tools()
        for name_format in NAME_FORMATS[1:]:
            tools = _disambiguated(tools, name_format)
        return tools


def possible_names(server: str, tool: str) -> set[str]:
    """The names under which a model may see the tool, depending on the other tools that it is given."""
    return {callable_name(name_format.format(server=server, tool=tool)) for name_format in NAME_FORMATS}


def _disambiguated(tools: Sequence[Tool], name_format: str) -> Sequence[Tool]:
    count = Counter(tool.name for tool in tools)
    return [tool if count[tool.name] == 1 else _renamed(tool, name_format) for tool in tools]


def _renamed(tool: Tool, name_format: str) -> Tool:
    return replace(tool, name=callable_name(name_format.format(server=tool.server, tool=tool.original)))


class AllowedTools(Wrapper):
    """Only the tools that match one of the patterns."""

    def __init__(self, inner: Toolset, patterns: Sequence[str]) -> None:
        super().__init__(inner)
        self._patterns = patterns

    def tools(self) -> Sequence[Tool]:
        return [tool for tool in self._inner.tools() if matches(tool, self._patterns)]


class ServerLists(Wrapper):
    """Applies the lists of disabled and approved tools that `servers.json` has for each server.

    A list applies only to its own server: its patterns are matched neither against the names of servers, which the
    operator chose, nor against the tools of other servers, whose names others chose. Every call to a server in `asking`
    waits for approval.
    """

    def __init__(
        self,
        inner: Toolset,
        disabled: Mapping[str, Sequence[str]],
        approved: Mapping[str, Sequence[str]],
        asking: Collection[str] = (),
    ) -> None:
        super().__init__(inner)
        self._asking = asking
        self._disabled = disabled
        self._approved = approved

    def tools(self) -> Sequence[Tool]:
        kept = (self._with_questions(tool) for tool in self._inner.tools() if not _is_listed(tool, self._disabled))
        return [_without_approval(tool) if _is_listed(tool, self._approved) else tool for tool in kept]

    def _with_questions(self, tool: Tool) -> Tool:
        return replace(tool, destructive=True, always_ask=True) if tool.server in self._asking else tool


def _is_listed(tool: Tool, lists: Mapping[str, Sequence[str]]) -> bool:
    return any(fnmatchcase(tool.original, pattern) for pattern in lists.get(tool.server, ()))


class ApprovedTools(Wrapper):
    """The allow-list: tools that match a pattern run without approval, even destructive ones."""

    def __init__(self, inner: Toolset, patterns: Sequence[str]) -> None:
        super().__init__(inner)
        self._patterns = patterns

    def tools(self) -> Sequence[Tool]:
        return [_without_approval(tool) if matches(tool, self._patterns) else tool for tool in self._inner.tools()]


def _without_approval(tool: Tool) -> Tool:
    """An approval is for the tool as it was: one whose definition has changed asks again."""
    return tool if tool.always_ask or tool.changed else replace(tool, destructive=False)


class TruncatedResults(Wrapper):
    """Truncates long results and appends a marker."""

    def __init__(self, inner: Toolset, limit: int) -> None:
        super().__init__(inner)
        self._limit = limit

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> Outcome:
        outcome = await super().call(tool, arguments)
        length = len(outcome.content)
        if length <= self._limit:
            return outcome
        marker = f"\n[truncated: these are the first {self._limit} of {length} characters]"
        return replace(outcome, content=outcome.content[: self._limit] + marker)


def matches(tool: Tool, patterns: Sequence[str]) -> bool:
    """A pattern may name a tool as models see it, as its server does, or as `server/tool`."""
    return any(_matches(tool, pattern) for pattern in patterns)


def _matches(tool: Tool, pattern: str) -> bool:
    """With a slash the server must match too, because a tool's name may imitate `server/tool` of another server.

    Both sides are matched separately, so that no `*` spans the slash. Names of servers may contain slashes as well.
    """
    if "/" not in pattern:
        return fnmatchcase(tool.name, pattern) or fnmatchcase(tool.original, pattern)
    return any(
        fnmatchcase(tool.server, pattern[:slash]) and fnmatchcase(tool.original, pattern[slash + 1 :])
        for slash, character in enumerate(pattern)
        if character == "/"
    )
