"""Joins the messages that a model writes before and after its tool calls into one text."""

import re
from dataclasses import dataclass

_LEADING_BLANK_LINES = re.compile(r"\A\s*\n")


@dataclass
class TextJoiner:
    """Each message starts a new paragraph if text came before it. `has_text` is true once there is visible text."""

    has_text: bool = False
    _paragraph_pending: bool = False
    _tail: str = ""

    def start_message(self) -> None:
        self._paragraph_pending = self.has_text

    def add(self, delta: str) -> str:
        """The text to append; empty while a later message has only white space."""
        if self._paragraph_pending:
            if not delta.strip():
                return ""
            delta = self._separator() + _LEADING_BLANK_LINES.sub("", delta)
            self._paragraph_pending = False
        self.has_text = self.has_text or bool(delta.strip())
        self._tail = (self._tail + delta)[-2:]
        return delta

    def _separator(self) -> str:
        newlines = len(self._tail) - len(self._tail.rstrip("\n"))
        return "\n" * (2 - newlines)
