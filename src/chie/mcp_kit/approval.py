"""Which arguments make a call destructive, for a tool that otherwise only adds.

MCP annotates tools, not calls. Such a tool is annotated as destructive, so that every client asks, and its `_meta`
names the arguments; our chat then asks only for calls that set one of them.
"""

from typing import Any

DESTRUCTIVE_ARGUMENTS_META = "chie/destructive_arguments"


def destructive_with(*arguments: str) -> dict[str, Any]:
    """The `_meta` of a tool that only adds unless one of these arguments is set."""
    return {DESTRUCTIVE_ARGUMENTS_META: list(arguments)} if arguments else {}
