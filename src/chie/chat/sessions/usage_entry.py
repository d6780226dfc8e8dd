"""Records of what requests to models used, as the rest of the chat sees them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from chie.chat.sessions.entities import new_id

NANO = 1_000_000_000  # costs are billionths of a dollar
COUNTS = (
    "requests",
    "estimated_requests",
    "input_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
)

Scope = Literal["team", "everyone", "user"]


@dataclass(frozen=True, kw_only=True)
class UsageEntry:
    """What requests to one model used on one day, in UTC. `cost` is in billionths of a US dollar; None if the price
    is unknown."""

    day: str
    user_id: str
    agent_id: str
    model: str
    host: str
    price: str
    requests: int = 1
    estimated_requests: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost: int | None = None

    @property
    def key(self) -> tuple[str, ...]:
        return self.day, self.user_id, self.agent_id, self.model, self.host, self.price


@dataclass(frozen=True, kw_only=True)
class UsageSelection:
    """Days from `first` to `last`; None is everything."""

    first: str
    last: str
    user_id: str | None = None
    agent_id: str | None = None
    model: str | None = None


@dataclass(frozen=True, kw_only=True)
class UsageSum:
    """`names` are the values that the summed entries share. `cost` is that of the requests whose price is known;
    `unpriced_requests` counts the others."""

    names: tuple[str, ...] = ()
    requests: int = 0
    estimated_requests: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    unpriced_requests: int = 0
    cost: int = 0


@dataclass(frozen=True, kw_only=True)
class UsageRecord:
    """The entries of one piece of work, which are written once: `id` tells whether they were."""

    entries: Sequence[UsageEntry] = ()
    id: str = field(default_factory=new_id)


@dataclass(frozen=True, kw_only=True)
class Limit:
    """Per month; None is no limit. `cost` is in billionths of a US dollar."""

    tokens: int | None = None
    cost: int | None = None


@dataclass(frozen=True, kw_only=True)
class StoredLimit(Limit):
    scope: Scope
    user_id: str = ""
    updated_by: str
    updated_at: datetime
