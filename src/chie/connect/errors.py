"""Errors of editing a client's configuration file."""

from chie.connect.splices import line_and_column
from chie.errors import ChieError
from chie.messages.catalogue import Message


class ConfigSyntaxError(ChieError):
    """The file does not parse; the text gives line and column as editors count them."""

    def __init__(self, problem: Message, text: str, position: int) -> None:
        line, column = line_and_column(text, position)
        super().__init__("connect.syntax_error", line=line, column=column, problem=problem)


class UnsupportedLayoutError(ChieError):
    """The file parses, but our entry cannot be added or removed without rewriting other parts of it."""
