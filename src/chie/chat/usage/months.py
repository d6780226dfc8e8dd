"""Months, in UTC, which is the same for all users and all processes."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from math import ceil


@dataclass(frozen=True)
class Month:
    year: int
    number: int

    @classmethod
    def of(cls, moment: datetime) -> "Month":
        return cls(moment.astimezone(UTC).year, moment.astimezone(UTC).month)

    def __str__(self) -> str:
        return f"{self.year:04}-{self.number:02}"

    @property
    def first(self) -> date:
        return date(self.year, self.number, 1)

    @property
    def last(self) -> str:
        """At least the last day; days are compared as texts."""
        return f"{self}-31"

    @property
    def renewal(self) -> datetime:
        """When the next month begins."""
        year, month = (self.year + 1, 1) if self.number == 12 else (self.year, self.number + 1)
        return datetime(year, month, 1, tzinfo=UTC)

    def seconds_left(self, moment: datetime) -> int:
        return max(1, ceil((self.renewal - moment).total_seconds()))
