"""What a model says before and after its tools, as one text."""

import re
from dataclasses import dataclass

_BLANK_LINES = re.compile(r"\A\s*\n")


@dataclass
class Paragraphs:
    """Each message begins a paragraph of its own where text came before; `said` is true once there are words."""

    said: bool = False
    _opening: bool = False
    _tail: str = ""

    def begin(self) -> None:
        """Another message."""
        self._opening = self.said

    def add(self, words: str) -> str:
        """The words as they go on with what was said; nothing as long as a later message is blank."""
        if self._opening:
            if not words.strip():
                return ""
            words = self._gap() + _BLANK_LINES.sub("", words)
            self._opening = False
        self.said = self.said or bool(words.strip())
        self._tail = (self._tail + words)[-2:]
        return words

    def _gap(self) -> str:
        ended = len(self._tail) - len(self._tail.rstrip("\n"))
        return "\n" * (2 - ended)
