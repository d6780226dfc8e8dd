"""The sentences of the house, read from its source: what the page may have to say in Japanese.

A sentence is found by its shape, not by where it goes: every string of two words or more that is no docstring, no
annotation and no argument of a call that speaks to somebody else (a log, the command line, SQL, the API's description).
So a new text is found wherever it is written, and a text that the page never shows has to be named in `test_texts.py`.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

HOLE = "\0"
NAMED = re.compile(r"\{([a-z_][a-z0-9_]*)(?:[:!][^{}]*)?\}")
WORDS = re.compile(rf"[A-Za-z`)’']+[,;:.]? [A-Za-z(`]|{HOLE}[,;:.]? [a-z]{{3}}|[a-z]{{3}}[,;:.]? {HOLE}")
OTHER = re.compile(  # SQL, policies, pages, and what the log fills in
    r"\s*(?:\(?(?:SELECT|INSERT|DELETE|UPDATE|CREATE|ALTER|PRAGMA|BEGIN|AND|NOT|WITH|LEFT JOIN|SET LOCAL|seq IN) "
    r"|default-src |<!doctype )|.*(?:%s|%\(\w+\)s|[=<] \(?\?)",
    re.DOTALL,
)
PROPER = re.compile(r"[A-Z][\w-]*(?: [A-Z][\w-]*)*")

UNHEARD = re.compile(
    r"logger\..*|click\..*|sys\.stderr\..*|print|re\.compile|.*\.(?:execute|executemany|exec_driver_sql|executescript)|"
    r"text|Field|Query|Header|File|Path|Counter|Histogram|Gauge|ToolAnnotations|WithJsonSchema|getattr|.*ErrorContext|BrokenStreamError|_SECRET_TEXT\.sub"
)
UNHEARD_KEYS = {"description", "help"}  # of dictionaries: they are part of the API's description
UNHEARD_NAMES = re.compile(
    r"INSTRUCTIONS|.*_PROMPT|PROMPT|system_prompt|instructions|_COLUMNS|_HEADING|.*HEADERS|headers"
)


@dataclass(frozen=True)
class Text:
    """`names` has one for each hole; the skeleton alone says which text it is."""

    skeleton: str
    names: tuple[str, ...]
    place: str

    @property
    def template(self) -> str:
        literals = self.skeleton.split(HOLE)
        holes = [f"{{{name}}}" for name in self.names]
        return "".join(part for pair in zip(literals, [*holes, ""], strict=True) for part in pair)

    @property
    def is_sentence(self) -> bool:
        bare = self.skeleton.replace(HOLE, "")
        return (
            bool(WORDS.search(self.skeleton) and re.search("[a-z]{2}", bare))
            and not OTHER.match(bare)
            and not PROPER.fullmatch(self.skeleton)
        )


def skeleton(template: str) -> str:
    """Two templates that differ only in what their holes are called are one."""
    return _joined(NAMED.sub(HOLE, template))


def holes(template: str) -> set[str]:
    return {found["name"] for found in re.finditer(r"\{(?P<name>\w+)\}", template)}


def texts(files: Iterable[Path], root: Path) -> Iterator[Text]:
    for file in files:
        for node in _strings(ast.parse(file.read_text(encoding="utf-8"))):
            parts = list(_parts(node))
            yield _text(parts, f"{file.relative_to(root)}:{node.lineno}")


def _text(parts: list[str | ast.expr], place: str) -> Text:
    form, names = "", list[str]()
    for part in parts:
        if isinstance(part, str):
            names += NAMED.findall(part)
            form += NAMED.sub(HOLE, part)
        elif form.endswith(HOLE):
            continue  # two values side by side are one to a reader
        else:
            names.append(_name(part))
            form += HOLE
    return Text(_joined(form), tuple(_numbered(names)), place)


def _joined(form: str) -> str:
    return re.sub(f"{HOLE}+", HOLE, form)


def _numbered(names: list[str]) -> Iterator[str]:
    for place, name in enumerate(names):
        earlier = names[:place].count(name)
        yield f"{name}{earlier + 1}" if earlier else name


def _name(value: ast.expr) -> str:
    found = [node for node in ast.walk(value) if isinstance(node, ast.Name | ast.Attribute)]
    for node in found:
        name = node.attr if isinstance(node, ast.Attribute) else node.id
        if name not in {"len", "type", "join", "__name__", "sorted", "self", "map", "ord"}:
            return name.strip("_").lower()
    return "value"


def _parts(node: ast.expr) -> Iterator[str | ast.expr]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            for value in values:
                # what stands in an f-string is meant as it is: its braces are no holes
                yield value.value if isinstance(value, ast.FormattedValue) else str(getattr(value, "value", ""))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from _parts(left)
            yield from _parts(right)
        case _:
            yield node


def _strings(node: ast.AST) -> Iterator[ast.expr]:
    """Every string that is written there and might be heard, the largest first; also those inside of its values."""
    if _is_unheard(node):
        return
    if isinstance(node, ast.expr) and any(isinstance(part, str) for part in _parts(node)):
        yield node
        for part in _parts(node):
            if isinstance(part, ast.AST):
                yield from _strings(part)
        return
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _strings(child)


def _is_unheard(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()):
            return True  # a docstring
        case ast.Call(func=func):
            return UNHEARD.fullmatch(ast.unparse(func)) is not None
        case (
            ast.Assign(targets=[ast.Name(id=name)])
            | ast.AnnAssign(target=ast.Name(id=name))
            | ast.keyword(arg=str(name))
        ):
            return UNHEARD_NAMES.fullmatch(name) is not None
        case ast.Dict(keys=keys):
            return any(isinstance(key, ast.Constant) and key.value in UNHEARD_KEYS for key in keys)
    return False
