"""Answers have a limit. What is cut is marked where it was cut, and the answer says how to get it."""

import json
from typing import Any

MARK = "⟦cut"  # also refused in what is sent back: a shortened text must not be stored over the whole one

_ROUNDS = ((2_000, 100), (600, 30), (200, 10), (80, 3), (40, 1))


def fit(result: object, limit: int, how: str) -> object:
    """The result, shortened as little as it takes; its first keys are its most important."""
    size = length(result)
    if size <= limit:
        return result
    room = limit - len(how) - 200
    notice = {"truncated": f"{size:,} characters, and the limit is {limit:,}: the places are marked {MARK}…⟧. {how}"}
    for texts, items in _ROUNDS:
        shown = _shorten(result, texts, items)
        if length(shown) <= room:
            return notice | shown if isinstance(shown, dict) else {**notice, "result": shown}
    return notice


def is_cut(value: Any) -> bool:  # noqa: ANN401
    """Whether something in it was shortened: a text, the last item of a list, or the last key of an object."""
    match value:
        case str():
            return MARK in value
        case list():
            return any(is_cut(item) for item in value)
        case dict():
            return any(is_cut(item) for entry in value.items() for item in entry)
    return False


def length(result: object) -> int:
    return len(json.dumps(result, ensure_ascii=False, separators=(",", ":")))


def fitting(rows: list[Any], limit: int) -> int:
    """How many of the rows fit, in their order; at least one, which then is shortened inside."""
    used = 0
    for count, row in enumerate(rows):
        used += length(row) + 1
        if used > limit:
            return max(count, 1)
    return len(rows)


def _shorten(value: Any, texts: int, items: int) -> Any:  # noqa: ANN401
    match value:
        case str() if len(value) > texts:
            return f"{value[:texts]}{MARK} {len(value) - texts:,} of {len(value):,} characters⟧"
        case list():
            head = [_shorten(item, texts, items) for item in value[:items]]
            return [*head, f"{MARK} {len(value) - items:,} of {len(value):,} items⟧"] if len(value) > items else head
        case dict():
            head_keys = list(value)[: items * 4]
            shown = {key: _shorten(value[key], texts, items) for key in head_keys}
            gone = len(value) - len(head_keys)
            return shown | {f"{MARK}⟧": f"{gone:,} of {len(value):,} entries"} if gone else shown
    return value
