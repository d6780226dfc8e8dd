"""Every requirement has a test, and every test that names a requirement names one that exists."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
SPEC = tomllib.loads((TESTS / "spec" / "requirements.toml").read_text(encoding="utf-8"))
REQUIRED = set(SPEC["requirements"])
PENDING = set(SPEC["pending"])


def named_by(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "req":
            yield from (str(argument.value) for argument in node.args if isinstance(argument, ast.Constant))


PROVEN = {name for file in TESTS.rglob("test_*.py") for name in named_by(file)}


def test_every_requirement_has_a_test() -> None:
    assert set() == REQUIRED - PENDING - PROVEN


def test_every_named_requirement_exists() -> None:
    assert set() == PROVEN - REQUIRED


def test_pending_requirements_exist_and_have_no_test() -> None:
    assert PENDING <= REQUIRED
    assert set() == PENDING & PROVEN
