"""Pagination. Our cursors wrap those of n8n and also contain the filters and an offset into the page."""

import base64
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from chie.messages.catalogue import Message
from chie.n8n.errors import ValidationError, ValidationErrorContext
from chie.n8n.models import Json, Page
from chie.n8n.truncation import rows_within

MAX_PAGE_SIZE = 250
RESERVED_SIZE = 1_000  # characters of a tool result beside the rows


@dataclass(frozen=True)
class Cursor:
    """The position in a list: n8n's cursor, the number of rows already returned of that page, and the filters."""

    upstream: str | None = None
    skip: int = 0
    filters: Mapping[str, str] = field(default_factory=dict)

    def encode(self) -> str:
        text = json.dumps({"c": self.upstream, "s": self.skip, "f": dict(self.filters)}, separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode()

    @classmethod
    def decode(cls, text: str) -> "Cursor":
        """Cursors of n8n itself are accepted, too."""
        try:
            content = json.loads(base64.urlsafe_b64decode(text.encode() + b"=="))
            if set(content) == {"c", "s", "f"}:
                filters = {str(name): str(value) for name, value in content["f"].items()}
                return cls(content["c"] and str(content["c"]), max(int(content["s"]), 0), filters)
            known = bool({"limit", "lastId"} & set(content))
        except (ValueError, RecursionError, TypeError, AttributeError) as error:
            raise _unknown_cursor() from error
        if not known:
            raise _unknown_cursor()
        return cls(upstream=text)


@dataclass(frozen=True)
class Listing:
    """One page as it is returned; `omitted` rows did not fit and are the first of the next page."""

    rows: list[Json]
    next_cursor: str | None
    omitted: int = 0

    def result(self, name: str) -> Json:
        result = {
            "count": len(self.rows),
            name: self.rows,
            "nextCursor": self.next_cursor,
            "hasMore": self.next_cursor is not None,
        }
        if self.omitted:
            result["truncated"] = str(Message("n8n.rows_omitted", count=self.omitted))
        return result


Fetch = Callable[[Mapping[str, str]], Awaitable[Page]]


async def read_page(
    fetch: Fetch,
    show: Callable[[Json], Json],
    *,
    filters: Mapping[str, str],
    limit: int,
    max_size: int,
    cursor: str | None = None,
    offset: int = 0,
) -> Listing:
    """The page at the cursor, or `offset` rows after the start; n8n's API has no offset."""
    start = _start(cursor, filters, offset)
    page = await fetch(_query(start, limit))
    while start.skip >= len(page.rows) and _has_next(page, start):
        start = Cursor(page.cursor, start.skip - len(page.rows), start.filters)
        page = await fetch(_query(start, limit))
    rows = [show(row) for row in page.rows[start.skip : start.skip + limit]]
    count = rows_within(rows, max_size)
    return Listing(rows[:count], _next(page, start, start.skip + count), omitted=len(rows) - count)


def _has_next(page: Page, start: Cursor) -> bool:
    """A repeated cursor, which n8n returns for limit 0, would never end."""
    return page.cursor is not None and page.cursor != start.upstream


def _next(page: Page, start: Cursor, shown: int) -> str | None:
    if shown < len(page.rows):
        return Cursor(start.upstream, shown, start.filters).encode()
    return Cursor(page.cursor, 0, start.filters).encode() if _has_next(page, start) else None


def _start(cursor: str | None, filters: Mapping[str, str], offset: int) -> Cursor:
    if not cursor:
        return Cursor(skip=offset, filters=filters)
    start = Cursor.decode(cursor)
    if filters and start.filters and dict(filters) != dict(start.filters):
        context = ValidationErrorContext(field="cursor", constraint="the same filters on every page")
        raise ValidationError("n8n.cursor_filters_differ", context)
    return Cursor(start.upstream, start.skip, start.filters or filters)


def _query(start: Cursor, limit: int) -> dict[str, str]:
    if start.upstream:
        return {**start.filters, "cursor": start.upstream}
    return {**start.filters, "limit": str(min(limit + start.skip, MAX_PAGE_SIZE))}


def _unknown_cursor() -> ValidationError:
    return ValidationError("n8n.cursor_unknown", ValidationErrorContext(field="cursor"))
