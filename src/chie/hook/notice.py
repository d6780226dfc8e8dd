"""Tells the user at a session's start that Chie cannot be used: once, and again only after it could be used."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "hook-problem"
UNREACHABLE, REFUSED = "hook.unreachable", "hook.token_refused"


def problem_text(code: str, url: str, home: str, env: Mapping[str, str]) -> str | None:
    """The text, unless it was said before. Without a place to remember it, nothing is said."""
    file = os.path.join(home, FILE)
    try:
        if os.path.isfile(file) and _read(file) == code:
            return None
        os.makedirs(home, mode=0o700, exist_ok=True)
        with open(file, "w", encoding="utf-8") as said:
            said.write(code)
    except OSError:
        return None
    from chie.messages.catalogue import Message

    return Message(code, url=url).text("ja" if _is_japanese(env) else "en")


def forget_problem(home: str) -> None:
    """Called when Chie has answered."""
    try:
        os.unlink(os.path.join(home, FILE))
    except OSError:
        return


def _read(file: str) -> str:
    with open(file, encoding="utf-8") as said:
        return said.read()


def _is_japanese(env: Mapping[str, str]) -> bool:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := env.get(name):
            return value.startswith("ja")
    return False
