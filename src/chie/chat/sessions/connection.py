"""A connection to the database, as the SQL of sessions uses it."""

from typing import Any, Protocol

from sqlalchemy import CursorResult, Executable


class Connection(Protocol):
    """Asynchronous or not: `DatabaseThread` has one that never waits."""

    async def execute(self, statement: Executable, parameters: Any = None, /) -> CursorResult[Any]: ...  # noqa: ANN401
