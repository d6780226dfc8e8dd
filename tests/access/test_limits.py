"""Rate limits."""

from chie.access import rate_limits as limits
from chie.access.rate_limits import RateLimit


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_burst_then_steady_rate_per_key() -> None:
    clock = Clock()
    limit = RateLimit(60, 3, clock=clock)
    assert [limit.take("aki") for _ in range(4)] == [0, 0, 0, 1]
    assert limit.take("ben") == 0
    clock.now += 1
    assert [limit.take("aki"), limit.take("aki")] == [0, 1]
    clock.now += 3600
    assert [limit.take("aki") for _ in range(4)] == [0, 0, 0, 1], "unused tokens do not accumulate"


def test_wait_is_given_in_seconds() -> None:
    limit = RateLimit(6, 1, clock=Clock())
    assert [limit.take("aki"), limit.take("aki")] == [0, 10]


def test_zero_is_no_limit() -> None:
    limit = RateLimit(0, 1)
    assert {limit.take("aki") for _ in range(1000)} == {0}


def test_number_of_buckets_is_limited() -> None:
    limit = RateLimit(60, 3, clock=Clock())
    for number in range(limits.MAX_BUCKETS + 50):
        limit.take(str(number))
    assert len(limit._buckets) <= limits.MAX_BUCKETS
