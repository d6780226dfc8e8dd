"""Reads n8n's TypeScript definitions of a node's parameters."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_BLOCK = re.compile(r"^export (?:type|interface) \w*?Params(?: =)? \{", re.MULTILINE)
_HELPER = re.compile(r"^type (?P<name>\w+) = (?P<type>.*);$", re.MULTILINE)
_VERSION = re.compile(r" Node - Version (?P<version>[\d.]+)")
_TAG = re.compile(r"<[^>]+>")
_SHOW = re.compile(r"^@displayOptions\.show (?P<condition>\{.*\})")
_DEFAULT = re.compile(r"^@default (?P<value>.*)")
_NAME = re.compile(r"\s*(?P<name>'[^']+'|\"[^\"]+\"|[\w$]+)(?P<optional>\?)?:\s*")
_EXPRESSION = re.compile(r"\s*\|\s*Expression<\w+>|Expression<\w+>\s*\|\s*")
_LITERAL = re.compile(r"'((?:[^'\\]|\\.)*)'|(?<![\w.])(-?\d+(?:\.\d+)?)(?![\w.])|\b(true|false)\b")
_OPEN, _CLOSE = "({[<", ")}]>"


@dataclass(frozen=True)
class Parameter:
    name: str
    type: str
    optional: bool
    text: str = ""
    default: str = ""
    show: str = ""
    children: "tuple[Parameter, ...]" = ()

    @property
    def is_list(self) -> bool:
        return self.type.startswith("Array<")


@dataclass(frozen=True)
class Definition:
    version: str
    parameters: tuple[Parameter, ...]
    helpers: dict[str, str] = field(default_factory=dict)


def read(text: str) -> list[Definition]:
    """One for each operation or mode that the text defines."""
    helpers = {found["name"]: found["type"] for found in _HELPER.finditer(text)}
    version = found["version"] if (found := _VERSION.search(text)) else ""
    return [Definition(version, tuple(_members(text, block.end())[0]), helpers) for block in _BLOCK.finditer(text)]


def allowed_values(definitions: list[Definition], path: list[str]) -> list[str]:
    """The values that the parameter at this path may have; empty if it is not limited to some."""
    found: list[str] = []
    for definition in definitions:
        for parameter in _at(definition.parameters, [part for part in path if not part.isdecimal()]):
            found += choices(parameter)
    return list(dict.fromkeys(found))


def choices(parameter: Parameter) -> list[str]:
    """The values that a parameter is limited to."""
    if parameter.children or _LITERAL.sub("", parameter.type).replace("Array", "").strip(" |<>()[]"):
        return []
    values = [text or number or boolean for text, number, boolean in _LITERAL.findall(parameter.type)]
    return list(dict.fromkeys(values))


def _at(parameters: tuple[Parameter, ...], path: list[str]) -> Iterator[Parameter]:
    for parameter in parameters:
        if path and parameter.name == path[0]:
            if len(path) == 1:
                yield parameter
            else:
                yield from _at(parameter.children, path[1:])


def _members(text: str, start: int) -> tuple[list[Parameter], int]:
    """The members of an object type whose `{` ends at `start`, and the index after its `}`."""
    members: list[Parameter] = []
    doc, position = "", start
    while position < len(text):
        if text[position].isspace() or text[position] in ";,":
            position += 1
        elif text.startswith("/*", position):
            end = _end_of_comment(text, position)
            doc, position = text[position:end], end
        elif text.startswith("//", position):
            position = (text.find("\n", position) + 1) or len(text)
        elif text[position] == "}":
            return members, position + 1
        elif name := _NAME.match(text, position):
            kind, children, position = _type(text, name.end())
            members.append(_parameter(name, kind, children, doc))
            doc = ""
        else:
            position += 1
    return members, position


def _type(text: str, start: int) -> tuple[str, list[Parameter], int]:
    """The type up to its `;`, and the members of the first object in it."""
    parts: list[str] = []
    children: list[Parameter] = []
    depth, position = 0, start
    while position < len(text):
        character = text[position]
        if character in "'\"":
            end = _end_of_string(text, position)
            parts.append(text[position:end])
            position = end
            continue
        if text.startswith("/*", position):
            position = _end_of_comment(text, position)
            continue
        if character == "{" and not children:
            children, position = _members(text, position + 1)
            parts.append("{…}")
            continue
        if character in ";}" and depth == 0:
            break
        depth += (character in _OPEN) - (character in _CLOSE)
        parts.append(character)
        position += 1
    return " ".join("".join(parts).split()), children, position


def _parameter(name: "re.Match[str]", kind: str, children: list[Parameter], doc: str) -> Parameter:
    lines = [line.strip().removeprefix("*").strip() for line in doc.removeprefix("/**").removesuffix("*/").splitlines()]
    text = " ".join(_until_tag(lines))
    default = next((found["value"] for line in lines if (found := _DEFAULT.match(line))), "")
    show = next((found["condition"] for line in lines if (found := _SHOW.match(line))), "")
    plain = _TAG.sub("", html.unescape(text))
    own = name["name"].strip("'\"")
    return Parameter(own, _EXPRESSION.sub("", kind), bool(name["optional"]), plain, default, show, tuple(children))


def _until_tag(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith("@"):
            return
        if line:
            yield line


def _end_of_comment(text: str, start: int) -> int:
    return (text.find("*/", start) + 2) if "*/" in text[start:] else len(text)


def _end_of_string(text: str, start: int) -> int:
    position = start + 1
    while position < len(text) and text[position] != text[start]:
        position += 2 if text[position] == "\\" else 1
    return min(position + 1, len(text))
