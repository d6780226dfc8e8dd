"""The port to a configuration syntax. An edit is only accepted if the result parses to exactly the intended data."""

from abc import ABC, abstractmethod
from typing import Any

from chie.connect.errors import ConfigSyntaxError, UnsupportedLayoutError
from chie.connect.splices import Splice, apply_all

Entries = dict[str, Any]


class Format(ABC):
    """`key` is the table that holds a client's servers."""

    @abstractmethod
    def parse(self, text: str) -> dict[str, Any]:
        """The data in the text; raises ConfigSyntaxError."""

    @abstractmethod
    def put(self, text: str, key: str, name: str, entry: Entries) -> Splice:
        """Add a server, or replace the one with that name."""

    @abstractmethod
    def drop(self, text: str, key: str, name: str) -> list[Splice]:
        """Remove a server."""

    @abstractmethod
    def clear(self, text: str, key: str) -> list[Splice]:
        """Remove the empty table of servers."""

    def entries(self, text: str, key: str) -> Entries:
        found = self.parse(text).get(key, {})
        if not isinstance(found, dict):
            raise UnsupportedLayoutError("connect.key_not_an_object", key=key)
        return found

    def checked_put(self, text: str, key: str, name: str, entry: Entries) -> Splice:
        splice = self.put(text, key, name, entry)
        before = self.parse(text)
        if self._reparsed(splice.apply(text)) != before | {key: self.entries(text, key) | {name: entry}}:
            raise UnsupportedLayoutError("connect.cannot_add_entry", key=key)
        return splice

    def checked_drop(self, text: str, key: str, name: str) -> str:
        after = apply_all(text, self.drop(text, key, name))
        rest = {other: entry for other, entry in self.entries(text, key).items() if other != name}
        found = self._reparsed(after)
        if found is None or (found | {key: found.get(key, {})}) != self.parse(text) | {key: rest}:
            raise UnsupportedLayoutError("connect.cannot_remove_entry", name=name)
        return after

    def checked_clear(self, text: str, key: str) -> str:
        """Unchanged if the table cannot be removed cleanly: an empty table does no harm."""
        after = apply_all(text, self.clear(text, key))
        rest = {other: value for other, value in self.parse(text).items() if other != key}
        return after if self._reparsed(after) == rest else text

    def _reparsed(self, text: str) -> dict[str, Any] | None:
        try:
            return self.parse(text)
        except ConfigSyntaxError:
            return None
