"""How often somebody may ask."""

from chie.access import rate_limits as limits
from chie.access.rate_limits import Limit


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_then_a_steady_rate_each_for_themselves() -> None:
    clock = Clock()
    limit = Limit(60, 3, clock=clock)
    assert [limit.take("aki") for _ in range(4)] == [0, 0, 0, 1]
    assert limit.take("ben") == 0
    clock.now += 1
    assert [limit.take("aki"), limit.take("aki")] == [0, 1]
    clock.now += 3600
    assert [limit.take("aki") for _ in range(4)] == [0, 0, 0, 1], "what was not used does not add up"


def test_a_slow_rate_says_how_long_to_wait() -> None:
    limit = Limit(6, 1, clock=Clock())
    assert [limit.take("aki"), limit.take("aki")] == [0, 10]


def test_nought_is_no_limit() -> None:
    limit = Limit(0, 1)
    assert {limit.take("aki") for _ in range(1000)} == {0}


def test_strangers_without_number_do_not_fill_the_memory() -> None:
    limit = Limit(60, 3, clock=Clock())
    for number in range(limits.MOST + 50):
        limit.take(str(number))
    assert len(limit._buckets) <= limits.MOST
