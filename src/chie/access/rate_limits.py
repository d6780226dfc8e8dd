"""Rate limits: one token bucket per key."""

from collections import OrderedDict
from collections.abc import Callable
from math import ceil
from time import monotonic

MAX_BUCKETS = 10_000  # the least recently used is dropped first, and starts full when it returns


class RateLimit:
    """Allows `burst` at once, then `per_minute`; 0 per minute sets no limit."""

    def __init__(self, per_minute: float, burst: int, *, clock: Callable[[], float] = monotonic) -> None:
        self._rate = per_minute / 60
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> int:
        """0 if allowed; else the seconds to wait."""
        if not self._rate:
            return 0
        level, now = self._level(key)
        allowed = level >= 1
        self._buckets[key] = (level - 1 if allowed else level, now)
        return 0 if allowed else max(1, ceil((1 - level) / self._rate))

    def _level(self, key: str) -> tuple[float, float]:
        now = self._clock()
        level, seen = self._buckets.pop(key, (float(self._burst), now))
        if len(self._buckets) >= MAX_BUCKETS:
            self._buckets.popitem(last=False)
        level = min(self._burst, level + (now - seen) * self._rate)
        return level, now
