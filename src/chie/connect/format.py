"""The port to a configuration's language. A change is only made if what comes out says what it should, and no more."""

from abc import ABC, abstractmethod
from typing import Any

from chie.connect.text import BrokenTextError, Splice, UnsuitedTextError, apply_all

Entries = dict[str, Any]


class Format(ABC):
    """`key` is the name under which a host keeps its servers."""

    @abstractmethod
    def parse(self, text: str) -> dict[str, Any]:
        """What the text says; BrokenTextError tells where it says nothing."""

    @abstractmethod
    def put(self, text: str, key: str, name: str, entry: Entries) -> Splice:
        """Add a server, or change the one of that name."""

    @abstractmethod
    def drop(self, text: str, key: str, name: str) -> list[Splice]:
        """Take a server out."""

    @abstractmethod
    def clear(self, text: str, key: str) -> list[Splice]:
        """Take out the place for servers, which has none left."""

    def entries(self, text: str, key: str) -> Entries:
        found = self.parse(text).get(key, {})
        if not isinstance(found, dict):
            raise UnsuitedTextError(f"`{key}` is not what it should be, a table of servers. Correct it by hand.")
        return found

    def checked_put(self, text: str, key: str, name: str, entry: Entries) -> Splice:
        splice = self.put(text, key, name, entry)
        before = self.parse(text)
        if self._reread(splice.apply(text)) != before | {key: self.entries(text, key) | {name: entry}}:
            raise UnsuitedTextError(
                f"`{key}` is written in a way that cannot be added to without rewriting what is yours. "
                "Add the text by hand; --print shows it."
            )
        return splice

    def checked_drop(self, text: str, key: str, name: str) -> str:
        after = apply_all(text, self.drop(text, key, name))
        rest = {other: entry for other, entry in self.entries(text, key).items() if other != name}
        found = self._reread(after)
        if found is None or (found | {key: found.get(key, {})}) != self.parse(text) | {key: rest}:
            raise UnsuitedTextError(
                f"`{name}` is written in a way that cannot be taken out without rewriting what is yours. "
                "Take it out by hand."
            )
        return after

    def checked_clear(self, text: str, key: str) -> str:
        """Left as it is where that cannot be done cleanly: an empty place harms nobody."""
        after = apply_all(text, self.clear(text, key))
        rest = {other: value for other, value in self.parse(text).items() if other != key}
        return after if self._reread(after) == rest else text

    def _reread(self, text: str) -> dict[str, Any] | None:
        try:
            return self.parse(text)
        except BrokenTextError:
            return None
