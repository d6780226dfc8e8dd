"""Strategies for configuration files as users and editors write them: JSON with comments, and TOML."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hypothesis import strategies as st

NONE: Mapping[str, st.SearchStrategy[str]] = MappingProxyType({})

NAMES = st.sampled_from(["mcpServers", "servers", "knowledge", "n8n", "題名", "a", 'quo"te', "//", "", "theme"])
TEXTS = st.one_of(st.sampled_from(["", "// no comment", "/* nor this */", "{", "知恵", 'a"b', "\\", ","]), st.text())
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS)
WORDS = ("", " x", " {", ' "', " 知恵", " , }", "/")
BLANKS = (
    *("", "", "", "", " ", "\t", "\n", "\n  ", " \n\t"),
    *(f" //{word}\n  " for word in WORDS),
    *(f"/*{word} */" for word in WORDS),
    *(f"\n/*{word}\n*/ // {word}\n" for word in WORDS),
)


def blanks(newline: str) -> st.SearchStrategy[str]:
    return st.sampled_from([blank.replace("\n", newline) for blank in BLANKS])


@st.composite
def values(draw: st.DrawFn, newline: str, depth: int = 0) -> str:
    kind = draw(st.sampled_from(["scalar", "list", "object"] if depth < 2 else ["scalar"]))
    if kind == "scalar":
        return json.dumps(draw(SCALARS), ensure_ascii=draw(st.booleans()))
    if kind == "object":
        return draw(objects(newline, depth))
    items = [draw(values(newline, depth + 1)) for _ in range(draw(st.integers(0, 3)))]
    return _bracketed(draw, newline, "[", items, "]")


@st.composite
def objects(draw: st.DrawFn, newline: str, depth: int = 0, fixed: Mapping[str, st.SearchStrategy[str]] = NONE) -> str:
    names = [*fixed, *draw(st.lists(NAMES.filter(lambda name: name not in fixed), max_size=3, unique=True))]
    members = []
    for name in draw(st.permutations(names)):
        value = draw(fixed[name]) if name in fixed else draw(values(newline, depth + 1))
        members.append(f"{json.dumps(name)}{draw(blanks(newline))}:{draw(blanks(newline))}{value}")
    return _bracketed(draw, newline, "{", members, "}")


def _bracketed(draw: st.DrawFn, newline: str, start: str, items: list[str], stop: str) -> str:
    text = start + draw(blanks(newline))
    for number, item in enumerate(items):
        comma = "," if number + 1 < len(items) or draw(st.booleans()) else ""
        text += item + draw(blanks(newline)) + comma + draw(blanks(newline))
    return text + stop


@st.composite
def jsonc_files(draw: st.DrawFn) -> str:
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    fixed: dict[str, Any] = {"mcpServers": objects(newline, 1)} if draw(st.booleans()) else {}
    inside = objects(newline, 0, fixed) if fixed else _without_servers(newline)
    bom = draw(st.sampled_from(["", "\ufeff"]))
    return bom + draw(blanks(newline)) + draw(inside) + draw(blanks(newline))


def _without_servers(newline: str) -> st.SearchStrategy[str]:
    from chie.connect.jsonc import parse

    def has_none(text: str) -> bool:
        node = parse(text)
        return node is not None and node.get("mcpServers") is None

    return objects(newline).filter(has_none)


@st.composite
def indented_files(draw: st.DrawFn) -> str:
    """The layout of `JSON.stringify` and of editors."""
    indent = draw(st.sampled_from(["\t", "  ", "    ", None]))
    plain: st.SearchStrategy[Any] = st.sampled_from([1, None, "", "知恵", [], [1, {"a": 2}], {}, {"b": {"c": []}}])
    content = draw(st.dictionaries(NAMES, plain, max_size=4))
    content.pop("mcpServers", None)
    if draw(st.booleans()):
        content["mcpServers"] = draw(st.dictionaries(NAMES, st.just({"command": "x"}), max_size=3))
    text = json.dumps(content, ensure_ascii=False, indent=indent)
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return text.replace("\n", newline) + draw(st.sampled_from(["", newline]))


STATEMENTS = (
    '# a comment with [brackets] and """',
    "",
    'plain{n} = "value" # tail',
    "number{n} = 1_000",
    'text{n} = """\n[mcp_servers.knowledge]\ncommand = "not a table"\n"""',
    "raw{n} = '''\n# [x]\n'''",
    'list{n} = [\n  "a", # one\n  "]",\n]',
    "inline{n} = { a = 1, b = [1, 2] }",
    "[table{n}]",
    "[[many{n}.inside]]",
    "['quoted.{n}'.\"題名\"]",
    '[mcp_servers.other{n}]\ncommand = "x"',
    "[mcp_servers.other{n}.env]",
    '"日本{n}" = 1979-05-27',
)


@st.composite
def toml_files(draw: st.DrawFn) -> str:
    chosen = draw(st.lists(st.sampled_from(STATEMENTS), max_size=8))
    text = "\n".join(statement.replace("{n}", str(number)) for number, statement in enumerate(chosen))
    text += draw(st.sampled_from(["", "\n", "\n\n", "\n# end"]))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return draw(st.sampled_from(["", "\ufeff"])) + text.replace("\n", newline)
