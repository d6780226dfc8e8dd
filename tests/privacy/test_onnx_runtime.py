"""ONNX Runtime reports to its vendor unless it is told not to: nothing else may load it, and nothing of it stays."""

import ast
import subprocess
from pathlib import Path

import pytest
from tests.app.processes import BIN
from tests.privacy.environment import bare_environment

ROOT = Path(__file__).parents[2]
ONLY = "src/chie/knowledge/embedding/onnx_runtime.py"
LIBRARY = "onnxruntime"
FOLDERS = ("src", "packages", "bench", "docs", "release", "tests")


def imported(source: str) -> set[str]:
    """The packages that a module imports, also by name in `import_module("…")`, at any depth."""
    names = set[str]()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import():
                names |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=str(module)):
                names.add(module)
            case ast.Call(
                func=ast.Name(id=called) | ast.Attribute(attr=called), args=[ast.Constant(value=str(name)), *_]
            ):
                names |= {name} if called in ("import_module", "__import__") else set()
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize(
    "source",
    [
        "import onnxruntime as ort",
        "def f():\n    from onnxruntime.capi import _pybind_state",
        "import importlib\nimportlib.import_module('onnxruntime')",
        "__import__('onnxruntime')",
    ],
)
def test_every_way_to_import_is_seen(source: str) -> None:
    assert LIBRARY in imported(source)


def test_one_module_imports_onnx_runtime() -> None:
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    found = [file for file in files if LIBRARY in imported(file.read_text("utf-8"))]
    assert [str(file.relative_to(ROOT)) for file in found] == [ONLY]


@pytest.mark.req("TR-1")
@pytest.mark.parametrize("set_by_user", [None, "", "0", "no"])
def test_search_leaves_nothing_in_the_users_folder(tmp_path: Path, set_by_user: str | None) -> None:
    environment = bare_environment(tmp_path)
    if set_by_user is not None:
        environment["ORT_DISABLE_TELEMETRY"] = set_by_user
    for arguments in (("save", "VPN は FortiClient を使う"), ("search", "VPN")):
        subprocess.run([BIN / "chie", "notes", *arguments], env=environment, check=True, capture_output=True)
    assert list((tmp_path / "user").rglob("*")) == []
