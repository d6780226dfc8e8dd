"""The message catalogue and the source agree: no code without texts, no text without a use, in both languages."""

import ast
import inspect
import json
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from chie.errors import ChieError, NotFoundError, ValidationError
from chie.messages.catalogue import FOLDER, Message, catalogue

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "src", ROOT / "packages" / "chie-agent-adk" / "src")
CODE = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")
JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")

REQUIRED_TEXTS = (
    (Message("argument.required", name="content"), "content is required"),
    (Message("knowledge.note_not_found"), "knowledge not found"),
)


@pytest.mark.parametrize("module", sorted(file.stem for file in FOLDER.glob("*/*.json")))
def test_both_languages_have_the_same_codes_in_order(module: str) -> None:
    english, japanese = (list(_pairs(FOLDER / language / f"{module}.json")) for language in ("en", "ja"))
    assert english == sorted(set(english)), "keys must be sorted and unique"
    assert japanese == english
    assert [code for code in english if not CODE.fullmatch(code) or code.partition(".")[0] != module] == []


def test_a_translation_has_the_parameters_of_its_original() -> None:
    for code, template in texts("en").items():
        assert parameters(texts("ja")[code]) == parameters(template), code


def test_templates_format_numbers_and_nothing_else() -> None:
    for language in ("en", "ja"):
        for code, template in texts(language).items():
            for _, name, spec, conversion in Formatter().parse(template):
                assert name is None or (name.isidentifier() and spec in ("", ",") and conversion is None), code


def test_japanese_texts_are_japanese() -> None:
    """Templates of names and punctuation have nothing to translate."""
    words = {code: re.sub(r"`[^`]*`|\{[\w:,]+\}|\b[A-Z]\w+", "", text) for code, text in texts("en").items()}
    translatable = [code for code, text in words.items() if re.search(r"[a-z]{3} |[a-z]{4}", text)]
    assert [code for code in translatable if not JAPANESE.search(texts("ja")[code])] == []


def test_every_code_is_used() -> None:
    used = {value for _, tree in trees() for value in _strings(tree)}
    assert sorted(texts("en").keys() - used) == []


def test_every_message_is_made_from_a_known_code() -> None:
    """Errors too. A literal code must be in the catalogue; text put together on the spot is not a code."""
    wrong = [
        f"{_location(file, call)}: {ast.unparse(code)[:80]}"
        for file, call in messages()
        for code in _alternatives(call.args[0])
        if not _may_be_code(code)
    ]
    assert wrong == []


def test_a_message_gets_the_parameters_of_its_template() -> None:
    wrong = []
    for file, call in messages():
        if any(keyword.arg is None for keyword in call.keywords):
            continue
        for code in filter(None, map(_literal, _alternatives(call.args[0]))):
            given = {str(keyword.arg) for keyword in call.keywords} - _own_arguments(file, call)
            if code in texts("en") and given != parameters(texts("en")[code]):
                wrong.append(f"{_location(file, call)}: {code} takes {parameters(texts('en')[code])}, not {given}")
    assert wrong == []


def test_nothing_compares_a_text() -> None:
    compared = [
        _location(file, node)
        for file, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and any(map(_is_error_text, (node.left, *node.comparators)))
    ]
    assert compared == []


@pytest.mark.parametrize(("message", "text"), REQUIRED_TEXTS, ids=str)
def test_texts_that_a_requirement_fixes_stay(message: Message, text: str) -> None:
    assert str(message).startswith(text)


def test_nested_messages_follow_the_language() -> None:
    inner = Message("argument.required", name="content")
    outer = Message("argument.several", problems=[inner, Message("argument.required", name="title")])
    assert str(outer) == "content is required; title is required"
    assert JAPANESE.search(outer.text("ja"))
    assert outer.json_params()["problems"][0] == {
        "code": "argument.required",
        "params": {"name": "content"},
        "text": "content is required",
    }


def test_an_error_tells_its_code_parameters_and_text() -> None:
    error = ValidationError("argument.required", name="content")
    assert str(error) == error.message == "content is required"
    assert error.details() == {
        "error": True,
        "error_type": "ValidationError",
        "message": "content is required",
        "code": "argument.required",
        "params": {"name": "content"},
    }
    assert NotFoundError(Message("knowledge.note_not_found")).code == "knowledge.note_not_found"


@cache
def texts(language: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for file in sorted((FOLDER / language).glob("*.json")):
        found |= catalogue("ja" if language == "ja" else "en", file.stem)
    return found


def parameters(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


@cache
def trees() -> list[tuple[Path, ast.Module]]:
    files = (file for source in SOURCES for file in sorted(source.rglob("*.py")))
    return [(file, ast.parse(file.read_text(encoding="utf-8"))) for file in files]


def messages() -> Iterator[tuple[Path, ast.Call]]:
    """Every call that makes an error of ours or a message, with at least one positional argument."""
    kinds = {"Message", *(kind.__name__ for kind in _error_classes())}
    for file, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _called(node) in kinds and node.args and not _is_foreign(tree, node):
                yield file, node


@cache
def _error_classes() -> list[type[ChieError]]:
    """Each module that defines one is imported, so that its class is known."""
    for file, tree in trees():
        if any(isinstance(node, ast.ClassDef) and node.name.endswith("Error") for node in tree.body):
            import_module(_module(file))
    return list(_subclasses(ChieError))


def _subclasses(kind: type[ChieError]) -> Iterator[type[ChieError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _subclasses(child)


def _is_foreign(tree: ast.Module, call: ast.Call) -> bool:
    """`ValidationError` is also Pydantic's and FastMCP's."""
    name = _called(call)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any((alias.asname or alias.name) == name for alias in node.names):
            return not str(node.module).startswith(("chie", "chie_agent_adk"))
    return False


def _own_arguments(file: Path, call: ast.Call) -> set[str]:
    """Keyword arguments of the class itself, such as `retryable`."""
    kind = vars(import_module(_module(file))).get(_called(call))
    kinds = [kind] if isinstance(kind, type) else [one for one in _error_classes() if one.__name__ == _called(call)]
    return {name for kind in kinds for name in inspect.signature(kind).parameters}


def _called(call: ast.Call) -> str:
    function = call.func
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _alternatives(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.IfExp):
        yield from _alternatives(node.body)
        yield from _alternatives(node.orelse)
    else:
        yield node


def _may_be_code(node: ast.expr) -> bool:
    if isinstance(node, ast.JoinedStr | ast.BinOp):
        return False
    return _literal(node) is None or _literal(node) in texts("en")


def _literal(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _strings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _module(file: Path) -> str:
    source = next(source for source in SOURCES if file.is_relative_to(source))
    return ".".join(file.relative_to(source).with_suffix("").parts)


def _is_error_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "message" and "error" in ast.unparse(node.value).lower()


def _pairs(file: Path) -> Iterator[str]:
    pairs: list[tuple[str, Any]] = json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=list)
    return (key for key, _ in pairs)


def _location(file: Path, node: ast.AST) -> str:
    return f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
