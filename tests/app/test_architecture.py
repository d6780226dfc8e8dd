"""The rules of the house that an import or a folder can break. Import directions are in pyproject.toml."""

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
}


def modules_after(statement: str) -> set[str]:
    """What a fresh interpreter has loaded once it has run the statement."""
    script = f"{statement}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_imports_go_the_way_the_design_says() -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_the_command_line_loads_no_framework_before_a_command_needs_it() -> None:
    loaded = modules_after("import chie.cli")
    assert loaded & (HEAVY | {"fastmcp", "mcp", "starlette", "pydantic", "uvicorn"}) == set()


BUILDS = {
    "knowledge": "from chie.knowledge.settings import KnowledgeSettings as Settings\nwanted = Settings()",
    "bedrock_kb": "from chie.bedrock_kb.config import KBConfig\nwanted = KBConfig('us-east-1', 'KB12345678', 'model')",
    "n8n": "from chie.n8n.settings import N8nSettings\nwanted = N8nSettings(url='http://127.0.0.1:9', api_key='key')",
}


@pytest.mark.parametrize("room", BUILDS)
def test_building_a_server_loads_no_model_and_no_driver(room: str) -> None:
    statement = (
        "import asyncio\n"
        f"from chie.{room}.server import create_server\n"
        f"{BUILDS[room]}\n"
        "asyncio.run(create_server(wanted).list_tools())"
    )
    assert modules_after(statement) & HEAVY == set()


def test_mcp_kit_stays_small() -> None:
    files = [file.name for file in (SOURCE / "mcp_kit").glob("*.py") if file.name != "__init__.py"]
    assert len(files) <= 6, files


def test_there_is_no_drawer_for_odds_and_ends() -> None:
    names = {path.stem for path in SOURCE.rglob("*") if path.suffix in ("", ".py")}
    assert names & {"utils", "util", "helpers", "helper", "common", "misc"} == set()


def test_packages_do_not_import_on_their_own() -> None:
    for init in SOURCE.rglob("__init__.py"):
        assert "import" not in init.read_text(encoding="utf-8"), init
