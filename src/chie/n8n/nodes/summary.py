"""A node's parameters in few characters: as much detail as fits."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from chie.n8n.nodes.definition import Definition, Parameter, choices

MAX_VALUES = 12

_CONDITION = re.compile(r"[\"']?(?P<key>/?[\w@]+)[\"']?: \[(?P<values>[^\]]*)\]")


@dataclass(frozen=True)
class Detail:
    """`texts` are characters of each description, `required_only` those of required parameters."""

    texts: int
    nested: bool
    required_only: bool = False
    conditions: bool = True


DETAILS = (
    Detail(160, nested=True),
    Detail(80, nested=True),
    Detail(60, nested=True, required_only=True),
    Detail(80, nested=False),
    Detail(60, nested=False, required_only=True),
    Detail(0, nested=False),
    Detail(0, nested=False, conditions=False),
)


def describe(definitions: list[Definition], limit: int) -> tuple[list[str], bool]:
    """The lines, one for each parameter, and whether some were left out."""
    lines: list[str] = []
    for detail in DETAILS:
        lines = _without_repeated_types(line for definition in definitions for line in _lines(definition, detail))
        if _size(lines) <= limit:
            return lines, False
    while lines and _size(lines) > limit:
        lines.pop()
    return lines, True


def _without_repeated_types(lines: Iterable[str]) -> list[str]:
    """The definitions of a node's modes repeat the types that they use."""
    shown: list[str] = []
    for line in lines:
        if not line.startswith("type ") or line not in shown:
            shown.append(line)
    return shown


def _size(lines: list[str]) -> int:
    return sum(len(line) + 3 + line.count('"') + line.count("\\") for line in lines)  # as JSON


def _lines(definition: Definition, detail: Detail) -> Iterator[str]:
    used = " ".join(parameter.type for parameter in definition.parameters)
    for name, kind in definition.helpers.items():
        if detail.nested or name in used:
            yield f"type {name} = {kind}"
    for parameter in definition.parameters:
        yield from _parameter(parameter, "", detail)


def _parameter(parameter: Parameter, prefix: str, detail: Detail) -> Iterator[str]:
    name = f"{prefix}{parameter.name}"
    kind = _kind(parameter, detail)
    line = f"{name}{'?' if parameter.optional else ''}: {kind}"
    if parameter.default not in ("", "{}", "[]", '""'):
        line += f" = {parameter.default[:40]}"
    if detail.conditions and (condition := _condition(parameter.show)):
        line += f" [if {condition}]"
    if parameter.text and detail.texts and not (detail.required_only and parameter.optional):
        line += f" // {_shortened(parameter.text, detail.texts)}"
    yield line
    if detail.nested:
        for child in parameter.children:
            yield from _parameter(child, f"{name}[]." if parameter.is_list else f"{name}.", detail)


def _kind(parameter: Parameter, detail: Detail) -> str:
    if parameter.children and not detail.nested:
        names = ", ".join(dict.fromkeys(child.name for child in parameter.children))
        return f"[{{{names}}}]" if parameter.is_list else f"{{{names}}}"
    if parameter.children:
        return "list of" if parameter.is_list else "object"
    if values := choices(parameter):
        more = f"|… {len(values) - MAX_VALUES} more" if len(values) > MAX_VALUES else ""
        return "|".join(values[:MAX_VALUES]) + more
    return parameter.type


def _condition(show: str) -> str:
    found = [(part["key"], part["values"].replace('"', "")) for part in _CONDITION.finditer(show)]
    return ", ".join(f"{key}={values}" for key, values in found)


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
