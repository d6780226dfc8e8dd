"""Compares a rehearsal with the recorded execution, node by node."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from chie.n8n.execution_failure import failure
from chie.n8n.models import Execution, Json
from chie.n8n.rehearsal.recording import Recording

Outcome = Literal["fixed", "still_failing", "newly_failing", "different", "same", "not_proven", "needs_permission"]

MAX_VALUE_LENGTH = 120


@dataclass(frozen=True)
class Difference:
    """The first difference of one node. `at` is empty if the node ran then and not now."""

    node: str
    at: str
    before: str
    after: str


@dataclass
class Comparison:
    failed_before: Json | None = None
    fails_now: Json | None = None
    differences: list[Difference] = field(default_factory=list)
    ran_now: dict[str, int] = field(default_factory=dict)  # nodes that had not run then, with their items


def compare(then: Recording, execution: Execution, now: Recording, pinned: set[str]) -> Comparison:
    found = Comparison(fails_now=failure(execution))
    for name in dict.fromkeys([*then.runs, *now.runs]):
        if name in pinned or not (then.succeeded(name) or now.succeeded(name)):
            continue
        if name not in then.runs or not then.succeeded(name):
            found.ran_now[name] = sum(len(items) for run in now.runs[name] for _, items in _outputs(run))
        elif name not in now.runs:
            found.differences.append(Difference(name, "", "", ""))
        elif now.succeeded(name) and (first := _first(then.runs[name], now.runs[name])):
            found.differences.append(Difference(name, *first))
    return found


def _first(before: list[Json], after: list[Json]) -> tuple[str, str, str] | None:
    """Its path starts at the run: `main[0].total`, or `run[1].main[0].total` for a later one."""
    old, new = ([dict(_outputs(run)) for run in runs] for runs in (before, after))
    for index, (one, other) in enumerate(zip(old, new, strict=False)):
        for name in {**one, **other}:  # an output without items is not recorded
            one.setdefault(name, [])
            other.setdefault(name, [])
        for found in _differences(one, other, f"run[{index}]" if index else ""):
            return found
    return ("runs.length", str(len(old)), str(len(new))) if len(old) != len(new) else None


def _differences(one: Any, other: Any, path: str) -> Iterator[tuple[str, str, str]]:  # noqa: ANN401
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            yield from _differences(one.get(key, _MISSING), other.get(key, _MISSING), f"{path}.{key}".strip("."))
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            yield f"{path}.length", str(len(one)), str(len(other))
        for index, (left, right) in enumerate(zip(one, other, strict=False)):
            yield from _differences(left, right, f"{path}[{index}]")
    elif type(one) is not type(other) or one != other:
        yield path, _shown(one), _shown(other)


class _Missing:
    pass


_MISSING = _Missing()


def _shown(value: Any) -> str:  # noqa: ANN401
    text = "–" if value is _MISSING else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[:MAX_VALUE_LENGTH]}…"


def _outputs(run: Json) -> Iterator[tuple[str, list[Any]]]:
    """`main`, `main[1]` … with what expressions see of each item."""
    for kind, outputs in (run.get("data") or {}).items():
        for number, items in enumerate(outputs or []):
            name = f"{kind}[{number}]" if number else kind
            if items:
                yield name, [item.get("json") if isinstance(item, dict) else item for item in items]
