"""Reads the results of n8n's `search_nodes`, which are text, into rows."""

import re
from collections.abc import Iterator

from chie.n8n.models import Json

MAX_OPERATIONS = 60
MAX_DESCRIPTION = 160

_NODE = re.compile(r"^- (?P<type>\S+)(?P<trigger> \[TRIGGER\])?")
_FIELD = re.compile(r"^  (?P<key>Display Name|Version|Description): (?P<value>.*)")
_DISCRIMINATOR = re.compile(r"^    (?P<kind>resource|operation|mode):")
_CHOICE = re.compile(r"^(?P<indent> +)- (?P<name>[\w-]+)(?P<rest>.*)")
_KEYS = {"Display Name": "name", "Version": "version", "Description": "description"}


def rows_of(results: str) -> list[Json]:
    """Each node once, with its operations: `message: post, update` per resource, or the modes."""
    found: dict[str, Json] = {}
    for lines in _blocks(results):
        row = _row(lines)
        found.setdefault(row["type"], row)
    for kind, row in found.items():  # the variant for AI agents repeats the operations of the node
        if kind.endswith("Tool") and row.get("operations") == found.get(kind.removesuffix("Tool"), {}).get(
            "operations"
        ):
            row.pop("operations", None)
    return list(found.values())


def _blocks(results: str) -> Iterator[list[str]]:
    block: list[str] = []
    for line in results.splitlines():
        if _NODE.match(line):
            if block:
                yield block
            block = [line]
        elif line.startswith("#"):
            if block:
                yield block
            block = []
        elif block:
            block.append(line)
    if block:
        yield block


def _row(lines: list[str]) -> Json:
    head = _NODE.match(lines[0])
    row: Json = {"type": head["type"] if head else ""}
    for line in lines:
        if found := _FIELD.match(line):
            row[_KEYS[found["key"]]] = found["value"].strip()[:MAX_DESCRIPTION]
    if "version" in row:
        row["version"] = _number(row["version"])
    if head and head["trigger"]:
        row["trigger"] = True
    return row | _operations(lines)


def _operations(lines: list[str]) -> Json:
    """By resource, or a list of operations or modes where the node has no resources."""
    kind, resource, found, modes = "", "", dict[str, list[str]](), list[str]()
    for line in lines:
        if start := _DISCRIMINATOR.match(line):
            kind = start["kind"]
        elif kind and (choice := _CHOICE.match(line)):
            if kind == "resource" and len(choice["indent"]) == 6:
                resource = choice["name"]
                found[resource] = []
            elif kind == "resource" and resource:
                found[resource].append(choice["name"])
            else:
                modes.append(choice["name"])
    if found:
        return {"operations": found}
    return {"modes" if kind == "mode" else "operations": modes[:MAX_OPERATIONS]} if modes else {}


def _number(text: str) -> float | str:
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number
