"""The user's time zone, which the page sends with a question: for the date in the prompt."""

from contextvars import ContextVar
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

_zone: ContextVar[ZoneInfo | None] = ContextVar("chie_time_zone", default=None)


def use_time_zone(name: str | None) -> None:
    """For the rest of the request, and for the run that it starts. An unknown zone is ignored."""
    _zone.set(_found(name) if name else None)


def today() -> str:
    """The user's weekday and date with the time zone; by UTC where it is not known."""
    zone = _zone.get()
    return f"{datetime.now(zone or UTC):%A, %Y-%m-%d} ({zone.key if zone else 'UTC'})"


def _found(name: str) -> ZoneInfo | None:
    """zoneinfo itself rejects names that lead out of its folders."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return None
