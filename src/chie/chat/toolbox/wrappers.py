"""What is put around a toolset: fewer tools, distinct names, fewer questions, shorter results."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from chie.chat.toolbox.tool import Outcome, Tool, Toolset, callable_name

FORMS = ("{tool}", "{server}_{tool}", "{server}/{tool}")  # of a tool's name, the first that is its alone


class Wrapper(Toolset):
    def __init__(self, inner: Toolset) -> None:
        self._inner = inner

    def tools(self) -> Sequence[Tool]:
        return self._inner.tools()

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> Outcome:
        return await self._inner.call(tool, arguments)


class Distinct(Wrapper):
    """Where several servers have a tool of one name, each gets its server's name in front."""

    def tools(self) -> Sequence[Tool]:
        """A slash is in no name, so the last form collides with none: it is made fit by a hash of the whole."""
        tools = self._inner.tools()
        for form in FORMS[1:]:
            tools = _apart(tools, form)
        return tools


def possible_names(server: str, tool: str) -> set[str]:
    """Under one of these a model knows the tool: which one depends on what else the model is given."""
    return {callable_name(form.format(server=server, tool=tool)) for form in FORMS}


def _apart(tools: Sequence[Tool], form: str) -> Sequence[Tool]:
    count = Counter(tool.name for tool in tools)
    return [tool if count[tool.name] == 1 else _renamed(tool, form) for tool in tools]


def _renamed(tool: Tool, form: str) -> Tool:
    return replace(tool, name=callable_name(form.format(server=tool.server, tool=tool.original)))


class Allowed(Wrapper):
    """Only the tools that fit one of the patterns; the others are not there."""

    def __init__(self, inner: Toolset, patterns: Sequence[str]) -> None:
        super().__init__(inner)
        self._patterns = patterns

    def tools(self) -> Sequence[Tool]:
        return [tool for tool in self._inner.tools() if fits(tool, self._patterns)]


class OwnLists(Wrapper):
    """What the operator wrote beside a server, by its name: tools that shall not be there, and tools that run unasked.

    Such a list is for that very server. Its patterns never meet a server's name, which the operator chose, nor another
    server's tools, whose names others chose.
    """

    def __init__(
        self, inner: Toolset, disabled: Mapping[str, Sequence[str]], approved: Mapping[str, Sequence[str]]
    ) -> None:
        super().__init__(inner)
        self._disabled = disabled
        self._approved = approved

    def tools(self) -> Sequence[Tool]:
        kept = (tool for tool in self._inner.tools() if not _is_listed(tool, self._disabled))
        return [_unasked(tool) if _is_listed(tool, self._approved) else tool for tool in kept]


def _is_listed(tool: Tool, lists: Mapping[str, Sequence[str]]) -> bool:
    return any(fnmatchcase(tool.original, pattern) for pattern in lists.get(tool.server, ()))


class Approved(Wrapper):
    """The allow-list: tools that fit a pattern run unasked, whatever they may destroy."""

    def __init__(self, inner: Toolset, patterns: Sequence[str]) -> None:
        super().__init__(inner)
        self._patterns = patterns

    def tools(self) -> Sequence[Tool]:
        return [_unasked(tool) if fits(tool, self._patterns) else tool for tool in self._inner.tools()]


def _unasked(tool: Tool) -> Tool:
    return replace(tool, destructive=False)


class Budgeted(Wrapper):
    """Cuts what a model could not read, and says so where it cut."""

    def __init__(self, inner: Toolset, characters: int) -> None:
        super().__init__(inner)
        self._characters = characters

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> Outcome:
        outcome = await super().call(tool, arguments)
        whole = len(outcome.content)
        if whole <= self._characters:
            return outcome
        marker = f"\n[cut: these are the first {self._characters} of {whole} characters]"
        return replace(outcome, content=outcome.content[: self._characters] + marker)


def fits(tool: Tool, patterns: Sequence[str]) -> bool:
    """A pattern may name a tool as models know it, as its server does, or as `server/tool`."""
    return any(_fits(tool, pattern) for pattern in patterns)


def _fits(tool: Tool, pattern: str) -> bool:
    """A server may put a slash into a tool's name, and before it another server's: with a slash the server counts.

    The two sides are compared apart, so that no `*` reaches over the slash; a server's name may have slashes as well.
    """
    if "/" not in pattern:
        return fnmatchcase(tool.name, pattern) or fnmatchcase(tool.original, pattern)
    return any(
        fnmatchcase(tool.server, pattern[:place]) and fnmatchcase(tool.original, pattern[place + 1 :])
        for place, character in enumerate(pattern)
        if character == "/"
    )
