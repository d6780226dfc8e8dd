"""Rules that an import or a folder can break. Import directions are in pyproject.toml."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "chie"

HEAVY = {
    "griffe",
    "numpy",
    "onnxruntime",
    "tokenizers",
    "boto3",
    "botocore",
    "openai",
    "anthropic",
    "psycopg",
    "sqlalchemy",
    "bs4",
    "markdownify",
}


def modules_after(statement: str) -> set[str]:
    """The modules that a fresh interpreter has imported after the statement."""
    script = f"{statement}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_contracts_hold() -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_command_line_imports_no_framework() -> None:
    loaded = modules_after("import chie.cli")
    assert loaded & (HEAVY | {"fastmcp", "mcp", "starlette", "pydantic", "uvicorn"}) == set()


BUILDS = {
    "knowledge": "from chie.knowledge.settings import KnowledgeSettings as Settings\nsettings = Settings()",
    "bedrock_kb": "from chie.bedrock_kb.config import KBConfig\nsettings = KBConfig('us-east-1', 'KB12345678', 'm')",
    "web_fetch": "from chie.web_fetch.settings import FetchSettings\nsettings = FetchSettings()",
    "n8n": "from chie.n8n.settings import N8nSettings\nsettings = N8nSettings(url='http://127.0.0.1:9', api_key='key')",
}


@pytest.mark.parametrize("module", BUILDS)
def test_creating_a_server_imports_no_model_and_no_driver(module: str) -> None:
    statement = (
        "import asyncio\n"
        f"from chie.{module}.server import create_server\n"
        f"{BUILDS[module]}\n"
        "asyncio.run(create_server(settings).list_tools())"
    )
    assert modules_after(statement) & HEAVY == set()


def test_mcp_kit_stays_small() -> None:
    files = [file.name for file in (SOURCE / "mcp_kit").glob("*.py") if file.name != "__init__.py"]
    assert len(files) <= 6, files


def test_no_module_is_named_utils() -> None:
    names = {path.stem for path in SOURCE.rglob("*") if path.suffix in ("", ".py")}
    assert names & {"utils", "util", "helpers", "helper", "common", "misc"} == set()


def test_init_files_import_nothing() -> None:
    for init in SOURCE.rglob("__init__.py"):
        tree = ast.parse(init.read_text(encoding="utf-8"))
        assert not any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree)), init
