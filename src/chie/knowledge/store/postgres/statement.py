"""Statements that are sent together, in one round trip."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from chie.knowledge.store.postgres.pool import Connection

Rows: TypeAlias = list[tuple[Any, ...]]


class Statement(NamedTuple):
    text: str
    values: Mapping[str, Any] | Sequence[Any] = ()

    def run(self, connection: "Connection") -> Rows:
        return connection.execute(self.text, self.values).fetchall()


def set_locally(settings: Mapping[str, str]) -> Statement:
    """Makes settings for the rest of the transaction."""
    calls = [f"set_config('{name}', '{value}', true)" for name, value in settings.items()]
    return Statement(f"SELECT {', '.join(calls)}")


def together(connection: "Connection", *statements: Statement) -> list[Rows]:
    """The rows of each statement. The driver inserts the values into the text; its pipelines would send each statement
    by itself, and wake the server for it."""
    from psycopg import ClientCursor

    with ClientCursor(connection) as cursor:
        cursor.execute("; ".join(cursor.mogrify(*statement) for statement in statements).encode())
        found = []
        while True:
            found.append(cursor.fetchall() if cursor.description else [])
            if not cursor.nextset():
                return found
