"""Cursors. n8n's own forget the filters they were made with, and know nothing of answers cut short: ours do."""

import base64
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from chie.n8n.budget import fitting
from chie.n8n.errors import ValidationError, ValidationErrorContext
from chie.n8n.models import Json, Page

MOST = 250


@dataclass(frozen=True)
class Cursor:
    """Where a list goes on: n8n's cursor, how many rows of that page were shown, and the filters."""

    upstream: str | None = None
    skip: int = 0
    filters: Mapping[str, str] = field(default_factory=dict)

    def encode(self) -> str:
        text = json.dumps({"c": self.upstream, "s": self.skip, "f": dict(self.filters)}, separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode()

    @classmethod
    def decode(cls, text: str) -> "Cursor":
        """A cursor that n8n made is good, too."""
        try:
            content = json.loads(base64.urlsafe_b64decode(text.encode() + b"=="))
            if set(content) == {"c", "s", "f"}:
                filters = {str(name): str(value) for name, value in content["f"].items()}
                return cls(content["c"] and str(content["c"]), max(int(content["s"]), 0), filters)
            known = bool({"limit", "lastId"} & set(content))
        except (ValueError, TypeError, AttributeError) as error:
            raise _foreign_cursor() from error
        if not known:
            raise _foreign_cursor()
        return cls(upstream=text)


@dataclass(frozen=True)
class Listing:
    """One page as we show it; `cut` rows of it did not fit and come first on the next."""

    rows: list[Json]
    next_cursor: str | None
    cut: int = 0

    def answer(self, name: str) -> Json:
        answer = {
            "count": len(self.rows),
            name: self.rows,
            "nextCursor": self.next_cursor,
            "hasMore": self.next_cursor is not None,
        }
        if self.cut:
            answer["truncated"] = f"{self.cut:,} more rows did not fit into this answer: nextCursor goes on with them."
        return answer


Fetch = Callable[[Mapping[str, str]], Awaitable[Page]]


async def read_page(
    fetch: Fetch,
    show: Callable[[Json], Json],
    *,
    filters: Mapping[str, str],
    limit: int,
    room: int,
    cursor: str | None = None,
    offset: int = 0,
) -> Listing:
    """The page that begins at the cursor, or `offset` rows after the start, which old servers cannot do."""
    start = _start(cursor, filters, offset)
    page = await fetch(_query(start, limit))
    while start.skip >= len(page.rows) and _goes_on(page, start):
        start = Cursor(page.cursor, start.skip - len(page.rows), start.filters)
        page = await fetch(_query(start, limit))
    rows = [show(row) for row in page.rows[start.skip : start.skip + limit]]
    count = fitting(rows, room)
    return Listing(rows[:count], _next(page, start, start.skip + count), cut=len(rows) - count)


def _goes_on(page: Page, start: Cursor) -> bool:
    """A cursor that repeats itself, as n8n gives for limit 0, would never end."""
    return page.cursor is not None and page.cursor != start.upstream


def _next(page: Page, start: Cursor, shown: int) -> str | None:
    if shown < len(page.rows):
        return Cursor(start.upstream, shown, start.filters).encode()
    return Cursor(page.cursor, 0, start.filters).encode() if _goes_on(page, start) else None


def _start(cursor: str | None, filters: Mapping[str, str], offset: int) -> Cursor:
    if not cursor:
        return Cursor(skip=offset, filters=filters)
    start = Cursor.decode(cursor)
    if filters and start.filters and dict(filters) != dict(start.filters):
        raise ValidationError(
            "cursor belongs to a list with other filters: leave the filters out, or start again without cursor.",
            ValidationErrorContext(field="cursor", constraint="the same filters on every page"),
        )
    return Cursor(start.upstream, start.skip, start.filters or filters)


def _query(start: Cursor, limit: int) -> dict[str, str]:
    if start.upstream:
        return {**start.filters, "cursor": start.upstream}
    return {**start.filters, "limit": str(min(limit + start.skip, MOST))}


def _foreign_cursor() -> ValidationError:
    return ValidationError(
        "cursor is not one that this list gave: pass nextCursor of the page before, or leave it out.",
        ValidationErrorContext(field="cursor"),
    )
