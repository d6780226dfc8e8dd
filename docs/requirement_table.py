"""The requirements and the tests that name them, for `docs/requirements.md` and `tests/spec`."""

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
SPEC = TESTS / "spec" / "requirements.toml"
HEAD = ("id", "requirement", "tests")
REAL_ONLY = "**`make real` only:** "
PENDING = "none yet"

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Proof:
    """One test that names a requirement. A `real` one needs programs from outside, and `make test` does not run it."""

    requirement: str
    file: Path
    real: bool


def proofs(folder: Path = TESTS) -> list[Proof]:
    return [proof for file in sorted(folder.rglob("test_*.py")) for proof in _proofs_of(file)]


def requirement_rows(proven: list[Proof] | None = None) -> Iterator[tuple[str, str, str]]:
    proven = proofs() if proven is None else proven
    for requirement, text in tomllib.loads(SPEC.read_text("utf-8"))["requirements"].items():
        yield requirement, text, _tests([proof for proof in proven if proof.requirement == requirement])


def _tests(found: list[Proof]) -> str:
    files = dict.fromkeys(proof.file.relative_to(ROOT).as_posix() for proof in found)
    named = ", ".join(f"[{name.removeprefix('tests/')}](../{name})" for name in files) or PENDING
    return f"{REAL_ONLY}{named}" if found and all(proof.real for proof in found) else named


def _proofs_of(file: Path) -> Iterator[Proof]:
    tree = ast.parse(file.read_text("utf-8"))
    marks = [node.value for node in tree.body if isinstance(node, ast.Assign) and _assigns_marks(node)]
    for requirement, real in _named(tree, real=any(_mentions_real(mark) for mark in marks)):
        yield Proof(requirement, file, real)


def _named(node: ast.AST, *, real: bool) -> Iterator[tuple[str, bool]]:
    """The requirements named in and below a node; marks of a class apply to its methods."""
    for child in ast.iter_child_nodes(node):
        marks = child.decorator_list if isinstance(child, Definition) else []
        child_real = real or any(_mentions_real(mark) for mark in marks)
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute) and child.func.attr == "req":
            yield from ((str(name.value), real) for name in child.args if isinstance(name, ast.Constant))
        yield from _named(child, real=child_real)


def _assigns_marks(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets)


def _mentions_real(mark: ast.expr) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "real" for node in ast.walk(mark))
