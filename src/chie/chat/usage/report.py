"""What models have cost: by day, model, agent and user, and as a CSV file."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from chie.access.identity import current_user
from chie.chat.sessions.usage import UsageStore
from chie.chat.sessions.usage_entry import COUNTS, NANO, UsageSelection, UsageSum
from chie.chat.usage.limits import require_admin
from chie.errors import ValidationError

MAX_DAYS = 366
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Days from `first` to `last`. `everyone` and other users' usage are for admins."""

    first: date
    last: date
    everyone: bool = False
    user_id: str | None = None
    agent_id: str | None = None
    model: str | None = None


@dataclass(frozen=True, kw_only=True)
class Sum:
    """`cost` in dollars is that of the requests whose price is known; `unpriced_requests` counts the others."""

    requests: int = 0
    estimated_requests: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    unpriced_requests: int = 0
    cost: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Group(Sum):
    """`name` is the day, the user, the agent or the model; `host` is the server of a model."""

    name: str
    host: str = ""


@dataclass(frozen=True, kw_only=True)
class Report:
    first: date
    last: date
    since: str | None
    total: Sum
    days: list[Group]
    models: list[Group]
    agents: list[Group]
    users: list[Group]


class UsageReports:
    def __init__(self, store: UsageStore) -> None:
        self._store = store

    async def report(self, selection: Selection) -> Report:
        """`since` is the first day on which anything was used."""
        selected = _selected(selection)
        by = ((), ("day",), ("model", "host"), ("agent_id",), ("user_id",))
        total, days, models, agents, users = await self._store.sums(selected, *by)
        return Report(
            first=selection.first,
            last=selection.last,
            since=await self._store.first_day(user_id=selected.user_id),
            total=Sum(**_counts(total[0])),
            days=sorted(_groups(days), key=lambda group: group.name),
            models=_groups(models),
            agents=_groups(agents),
            users=_groups(users),
        )

    async def csv(self, selection: Selection) -> str:
        """One line per day, user, agent, model, server and price."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow(["day", "user", "agent", "model", "host", "price", *COUNTS, "cost_usd"])
        for entry in await self._store.entries(_selected(selection)):
            cost = "" if entry.cost is None else f"{entry.cost / NANO:.9f}"
            counts = [getattr(entry, name) for name in COUNTS]
            writer.writerow([*map(_cell, entry.key), *counts, cost])
        return text.getvalue()


def _validate(selection: Selection) -> None:
    if selection.everyone or selection.user_id not in (None, current_user().id):
        require_admin()
    if selection.last < selection.first:
        raise ValidationError("usage.days_reversed")
    if (selection.last - selection.first).days >= MAX_DAYS:
        raise ValidationError("usage.too_many_days", limit=MAX_DAYS)


def _selected(selection: Selection) -> UsageSelection:
    """Raises ForbiddenError for the usage of others, unless the caller is an admin."""
    _validate(selection)
    return UsageSelection(
        first=f"{selection.first}",
        last=f"{selection.last}",
        user_id=selection.user_id if selection.everyone else selection.user_id or current_user().id,
        agent_id=selection.agent_id,
        model=selection.model,
    )


def _groups(sums: Iterable[UsageSum]) -> list[Group]:
    """The most expensive first, then the largest."""
    groups = [Group(name=one.names[0], host=one.names[1] if one.names[1:] else "", **_counts(one)) for one in sums]
    return sorted(groups, key=lambda group: (-group.cost, -group.input_tokens - group.output_tokens, group.name))


def _counts(found: UsageSum) -> dict[str, Any]:
    return {**{name: getattr(found, name) for name in (*COUNTS, "unpriced_requests")}, "cost": found.cost / NANO}


def _cell(text: str) -> str:
    """Spreadsheets run what looks like a formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
