"""Places inside JSON: `a.b[0].c`, or `/a/b/0/c` where keys hold dots."""

import re
from copy import deepcopy
from typing import Any

from chie.n8n.errors import ValidationError, ValidationErrorContext

Step = str | int

_PART = re.compile(r"(?P<key>[^.\[\]]+)|\[(?P<index>\d+)\]")
_WHOLE = re.compile(r"[^.\[\]]+(?:\.[^.\[\]]+|\[\d+\])*")


def parse(path: str) -> list[Step]:
    if path.startswith("/"):
        return [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]
    if not _WHOLE.fullmatch(path):
        raise _wrong("path must be written as a.b[0].c, or as /a/b/0/c")
    return [found["key"] or int(found["index"]) for found in _PART.finditer(path)]


def put(target: Any, steps: list[Step], value: Any) -> None:  # noqa: ANN401
    """Objects on the way are made; lists grow by one at most."""
    *way, last = steps
    for step in way:
        target = _enter(target, step)
    match target:
        case dict():
            target[str(last)] = value
        case list():
            index = _index(last, len(target))
            target[index : index + 1] = [value]
        case _:
            raise _wrong("path goes through something that is neither an object nor a list")


def merge_patch(target: Any, patch: Any) -> Any:  # noqa: ANN401
    """RFC 7396: objects merge, null takes away, everything else replaces."""
    if not isinstance(patch, dict):
        return deepcopy(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def _enter(target: Any, step: Step) -> Any:  # noqa: ANN401
    match target:
        case dict():
            if target.get(str(step)) is None:
                target[str(step)] = {}
            return target[str(step)]
        case list():
            index = _index(step, len(target))
            if index == len(target):
                target.append({})
            return target[index]
    raise _wrong("path goes through something that is neither an object nor a list")


def _index(step: Step, length: int) -> int:
    index = int(step) if str(step).isdecimal() else -1
    if not 0 <= index <= length:
        raise _wrong(f"path names a place in a list of {length} that is not there")
    return index


def _wrong(reason: str) -> ValidationError:
    return ValidationError(f"{reason}.", ValidationErrorContext(field="path"))
