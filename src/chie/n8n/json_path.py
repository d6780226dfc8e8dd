"""Paths inside JSON: `a.b[0].c`, or `/a/b/0/c` for keys that contain dots."""

import re
from copy import deepcopy
from typing import Any

from chie.messages.catalogue import Param
from chie.n8n.errors import ValidationError, ValidationErrorContext

Step = str | int

_PART = re.compile(r"(?P<key>[^.\[\]]+)|\[(?P<index>\d+)\]")
_PATH = re.compile(r"[^.\[\]]+(?:\.[^.\[\]]+|\[\d+\])*")


def parse(path: str) -> list[Step]:
    if path.startswith("/"):
        return [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]
    if not _PATH.fullmatch(path):
        raise _invalid("n8n.path_invalid")
    return [found["key"] or int(found["index"]) for found in _PART.finditer(path)]


def put(target: Any, steps: list[Step], value: Any) -> None:  # noqa: ANN401
    """Set the value in place. Missing objects are created; lists grow by one item at most."""
    *parents, last = steps
    for step in parents:
        target = _enter(target, step)
    match target:
        case dict():
            target[str(last)] = value
        case list():
            index = _index(last, len(target))
            target[index : index + 1] = [value]
        case _:
            raise _invalid("n8n.path_through_scalar")


def merge_patch(target: Any, patch: Any) -> Any:  # noqa: ANN401
    """RFC 7396: objects are merged, null removes a key, everything else replaces."""
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
    raise _invalid("n8n.path_through_scalar")


def _index(step: Step, length: int) -> int:
    index = int(step) if str(step).isdecimal() else -1
    if not 0 <= index <= length:
        raise _invalid("n8n.path_index_out_of_range", length=length)
    return index


def _invalid(code: str, **params: Param) -> ValidationError:
    return ValidationError(code, ValidationErrorContext(field="path"), **params)
