"""The SQL of usage and its limits."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import cache

from sqlalchemy import ColumnElement, Insert, case, delete, func, insert, select

from chie.chat.sessions.connection import Connection
from chie.chat.sessions.usage_entry import COUNTS, Scope, StoredLimit, UsageEntry, UsageRecord, UsageSelection, UsageSum
from chie.chat.sessions.usage_models import RecordedUsageRow, UsageLimitRow, UsageRow
from chie.database.dialect import upsert

KEY = ("day", "user_id", "agent_id", "model", "host", "price")


# Built once: building a statement costs more than running it.
_LIMITS = select(UsageLimitRow.__table__).order_by(UsageLimitRow.scope, UsageLimitRow.user_id)


@cache
def _mark(backend: str) -> Insert:
    marking: Insert = upsert(backend, RecordedUsageRow).on_conflict_do_nothing()
    return marking.execution_options(preserve_rowcount=True)


@cache
def _add(backend: str) -> Insert:
    """The price is a part of the key, so a cost is either known in all requests of a row or in none."""
    statement = upsert(backend, UsageRow)
    summed = {name: getattr(UsageRow, name) + statement.excluded[name] for name in (*COUNTS, "cost")}
    adding: Insert = statement.on_conflict_do_update(index_elements=KEY, set_=summed)
    return adding


async def record(connection: Connection, record: UsageRecord, backend: str, moment: datetime) -> None:
    """Add the entries, unless they were added before."""
    if not record.entries:
        return
    marked = await connection.execute(_mark(backend), {"id": record.id, "recorded_at": moment})
    if not marked.rowcount:
        return
    # In one order, so that two processes do not wait for each other.
    await connection.execute(_add(backend), [asdict(entry) for entry in merged(record.entries)])


def merged(entries: Iterable[UsageEntry]) -> list[UsageEntry]:
    """One entry for each key, in their order: a statement may change a row only once."""
    found: dict[tuple[str, ...], UsageEntry] = {}
    for entry in entries:
        found[entry.key] = _sum(found[entry.key], entry) if entry.key in found else entry
    return [found[key] for key in sorted(found)]


def _sum(one: UsageEntry, other: UsageEntry) -> UsageEntry:
    counts = {name: getattr(one, name) + getattr(other, name) for name in COUNTS}
    cost = None if one.cost is None or other.cost is None else one.cost + other.cost
    return UsageEntry(**{**asdict(one), **counts, "cost": cost})


async def forget(connection: Connection, *, before: datetime) -> None:
    """Drop the ids of records that no process writes again."""
    await connection.execute(delete(RecordedUsageRow).where(RecordedUsageRow.recorded_at < before))


async def totals(connection: Connection, *, first: str, last: str, user_id: str | None = None) -> tuple[int, int]:
    """Tokens and known cost from one day to another, of one user or of all."""
    tokens = func.coalesce(func.sum(UsageRow.input_tokens + UsageRow.output_tokens), 0).label("tokens")
    cost = func.coalesce(func.sum(UsageRow.cost), 0).label("cost")
    statement = select(tokens, cost).where(*_between(first, last))
    if user_id is not None:
        statement = statement.where(UsageRow.user_id == user_id)
    row = (await connection.execute(statement)).one()
    return int(row.tokens), int(row.cost)


async def entries(connection: Connection, selected: UsageSelection) -> list[UsageEntry]:
    columns = [getattr(UsageRow, name) for name in (*KEY, *COUNTS, "cost")]
    statement = select(*columns).where(*_selected(selected)).order_by(*columns[: len(KEY)])
    return [UsageEntry(**row._asdict()) for row in await connection.execute(statement)]


async def sums(connection: Connection, selected: UsageSelection, by: Sequence[str]) -> list[UsageSum]:
    """One sum for each value of these columns."""
    names = [getattr(UsageRow, name) for name in by]
    summed = [func.coalesce(func.sum(getattr(UsageRow, name)), 0).label(name) for name in (*COUNTS, "cost")]
    unpriced = func.coalesce(func.sum(case((UsageRow.cost.is_(None), UsageRow.requests), else_=0)), 0)
    statement = select(*names, *summed, unpriced.label("unpriced_requests")).where(*_selected(selected))
    rows = await connection.execute(statement.group_by(*names) if names else statement)
    counted = (*COUNTS, "unpriced_requests", "cost")
    return [
        UsageSum(
            names=tuple(str(getattr(row, name)) for name in by),
            **{name: int(getattr(row, name)) for name in counted},  # PostgreSQL sums to decimals
        )
        for row in rows
    ]


async def first_day(connection: Connection, *, user_id: str | None = None) -> str | None:
    statement = select(func.min(UsageRow.day))
    if user_id is not None:
        statement = statement.where(UsageRow.user_id == user_id)
    found: str | None = (await connection.execute(statement)).scalar()
    return found


async def limits(connection: Connection) -> list[StoredLimit]:
    return [StoredLimit(**row._asdict()) for row in await connection.execute(_LIMITS)]


async def put_limit(connection: Connection, limit: StoredLimit) -> None:
    await delete_limit(connection, limit.scope, limit.user_id)
    await connection.execute(insert(UsageLimitRow), asdict(limit))


async def delete_limit(connection: Connection, scope: Scope, user_id: str) -> bool:
    own = (UsageLimitRow.scope == scope, UsageLimitRow.user_id == user_id)
    return (await connection.execute(delete(UsageLimitRow).where(*own))).rowcount > 0


def _selected(selected: UsageSelection) -> list[ColumnElement[bool]]:
    chosen = {
        UsageRow.user_id: selected.user_id,
        UsageRow.agent_id: selected.agent_id,
        UsageRow.model: selected.model,
    }
    equal = [column == value for column, value in chosen.items() if value is not None]
    return [*_between(selected.first, selected.last), *equal]


def _between(first: str, last: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return UsageRow.day >= first, UsageRow.day <= last
