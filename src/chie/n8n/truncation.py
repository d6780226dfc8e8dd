"""Truncates results to the size limit. Truncated parts are marked, and the result contains advice how to read them."""

import json
from typing import Any

from chie.messages.catalogue import Message

MARK = "⟦cut"  # also rejected in arguments: a truncated text must not overwrite the complete one

NOTICE_RESERVE = 200  # characters for the notice, beside the advice
_ATTEMPTS = ((2_000, 100), (600, 30), (200, 10), (80, 3), (40, 1))  # characters per text, items per list


def truncate(result: object, limit: int, advice: Message) -> object:
    """The result, truncated as little as necessary. The first keys of an object are kept longest."""
    size = json_size(result)
    if size <= limit:
        return result
    available = limit - len(str(advice)) - NOTICE_RESERVE
    message = Message("n8n.result_truncated", size=size, limit=limit, mark=f"{MARK}…⟧", advice=advice)
    notice = {"truncated": str(message)}
    for characters, items in _ATTEMPTS:
        shown = shorten(result, characters, items)
        if json_size(shown) <= available:
            return notice | shown if isinstance(shown, dict) else {**notice, "result": shown}
    return notice


def is_truncated(value: Any) -> bool:  # noqa: ANN401
    """Whether a part of it is truncated: a text, the last item of a list, or the last key of an object."""
    match value:
        case str():
            return MARK in value
        case list():
            return any(is_truncated(item) for item in value)
        case dict():
            return any(is_truncated(item) for entry in value.items() for item in entry)
    return False


def json_size(result: object) -> int:
    return len(json.dumps(result, ensure_ascii=False, separators=(",", ":")))


def rows_within(rows: list[Any], limit: int) -> int:
    """The number of rows that fit into the limit; at least one, which is then truncated inside."""
    used = 0
    for count, row in enumerate(rows):
        used += json_size(row) + 1
        if used > limit:
            return max(count, 1)
    return len(rows)


def shorten(value: Any, characters: int, items: int) -> Any:  # noqa: ANN401
    """The value with at most so many characters per text and items per list; cuts are marked."""
    match value:
        case str() if len(value) > characters:
            return f"{value[:characters]}{MARK} {len(value) - characters:,} of {len(value):,} characters⟧"
        case list():
            head = [shorten(item, characters, items) for item in value[:items]]
            return [*head, f"{MARK} {len(value) - items:,} of {len(value):,} items⟧"] if len(value) > items else head
        case dict():
            head_keys = list(value)[: items * 4]
            shown = {key: shorten(value[key], characters, items) for key in head_keys}
            omitted = len(value) - len(head_keys)
            return shown | {f"{MARK}⟧": f"{omitted:,} of {len(value):,} entries"} if omitted else shown
    return value
