"""How often somebody may ask: a bucket of tokens that fills up again with time."""

from collections import OrderedDict
from collections.abc import Callable
from math import ceil
from time import monotonic

MOST = 10_000  # buckets; whoever was not seen for longest is forgotten first, and starts anew with a full one


class Limit:
    """`burst` at once, then `per_minute`."""

    def __init__(self, per_minute: float, burst: int, *, clock: Callable[[], float] = monotonic) -> None:
        self._rate = per_minute / 60
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> int:
        """0 where it may go on; else the seconds to wait."""
        if not self._rate:
            return 0
        level, now = self._level(key)
        allowed = level >= 1
        self._buckets[key] = (level - 1 if allowed else level, now)
        return 0 if allowed else self._wait(level)

    def is_spent(self, key: str) -> int:
        """As `take`, without taking."""
        if not self._rate or key not in self._buckets:
            return 0
        level, _ = self._level(key)
        return 0 if level >= 1 else self._wait(level)

    def _wait(self, level: float) -> int:
        return max(1, ceil((1 - level) / self._rate))

    def _level(self, key: str) -> tuple[float, float]:
        now = self._clock()
        level, seen = self._buckets.pop(key, (float(self._burst), now))
        if len(self._buckets) >= MOST:
            self._buckets.popitem(last=False)
        level = min(self._burst, level + (now - seen) * self._rate)
        self._buckets[key] = (level, now)
        return level, now
