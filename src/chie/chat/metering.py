"""The requests to models that some work made: an answer, a title, a comparison of notes.

The work's owner provides a `Meter` for its context; every request to a model adds to it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from chie.chat.events import Usage


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """One request that a model answered, also if the answer broke off. `host` is the server that bills it."""

    model: str
    host: str
    is_local: bool
    usage: Usage


@dataclass
class Meter:
    requests: list[ModelRequest] = field(default_factory=list)


_meter: ContextVar[Meter | None] = ContextVar("chie_meter", default=None)


@contextmanager
def metering(meter: Meter) -> Iterator[None]:
    """For the context of some work, and the tasks that it starts."""
    token = _meter.set(meter)
    try:
        yield
    finally:
        _meter.reset(token)


def count_request(request: ModelRequest) -> None:
    if (meter := _meter.get()) is not None:
        meter.requests.append(request)
