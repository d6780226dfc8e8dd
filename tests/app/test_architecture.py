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


AT_REST = HEAVY - {"sqlalchemy"} | {
    "PIL",
    "beartype",
    "chie.bedrock_kb.server",
    "chie.chat.api.openai_compat",
    "chie.chat.api.usage",
    "chie.knowledge.api",
    "chie.knowledge.recall.hooks",
    "chie.knowledge.review.review",
    "chie.n8n.server",
    "fastmcp.client",
    "kreuzberg",
    "sqlalchemy.dialects.postgresql",
}


def test_app_that_is_not_used_imports_little_and_builds_no_route(tmp_path: Path) -> None:
    """Memory at rest and the time to start are features. Servers that are not configured are not imported at all."""
    statement = (
        f"import os; os.environ.update(CHIE_HOME={str(tmp_path)!r}, OPENAI_BASE_URL='http://127.0.0.1:9/v1')\n"
        "import asyncio\n"
        "from chie.app import load_app\n"
        "from chie.http.routing import DeferredRoute\n"
        "async def rest():\n"
        "    app = load_app()\n"
        "    async with app.router.lifespan_context(app):\n"
        "        routes = [route for route in app.routes if isinstance(route, DeferredRoute)]\n"
        "        assert routes\n"
        "        assert not [route.path for route in routes if 'app' in vars(route)]\n"
        "asyncio.run(rest())"
    )
    assert modules_after(statement) & AT_REST == set()


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


def test_calling_a_tool_of_a_built_in_server_loads_no_second_client(tmp_path: Path) -> None:
    """FastMCP's client and its store of sessions load hundreds of modules, which nothing of ours uses."""
    statement = (
        f"import os; os.environ['CHIE_HOME'] = {str(tmp_path)!r}\n"
        "import asyncio\n"
        "from chie.chat.toolbox.connection import Connection\n"
        "from chie.chat.toolbox.transport import BuiltIn\n"
        "from chie.servers import create_server\n"
        "async def call():\n"
        "    connection = Connection('knowledge', BuiltIn(create_server('knowledge')))\n"
        "    connection.start()\n"
        "    result = await connection.call('list_knowledge', {})\n"
        "    assert not result.is_error, result\n"
        "    await connection.stop()\n"
        "asyncio.run(call())"
    )
    assert modules_after(statement) & {"fastmcp.client", "beartype", "requests"} == set()


def test_mcp_kit_stays_small() -> None:
    files = [file.name for file in (SOURCE / "mcp_kit").glob("*.py") if file.name != "__init__.py"]
    assert len(files) <= 7, files


def test_no_module_is_named_utils() -> None:
    names = {path.stem for path in SOURCE.rglob("*") if path.suffix in ("", ".py")}
    assert names & {"utils", "util", "helpers", "helper", "common", "misc"} == set()


def test_init_files_import_nothing() -> None:
    for init in SOURCE.rglob("__init__.py"):
        tree = ast.parse(init.read_text(encoding="utf-8"))
        assert not any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree)), init


def test_json_that_cannot_be_read_may_also_be_nested_too_deep() -> None:
    """Python's parser recurses, and does not call it a ValueError: models, tokens and files can send such JSON."""
    found = []
    for file in SOURCE.rglob("*.py"):
        if file.name == "jsonc.py":
            continue  # parses one string at a time
        for tried in (
            node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.Try)
        ):
            body = ast.unparse(ast.Module(tried.body, []))
            caught = " ".join(ast.unparse(one.type) for one in tried.handlers if one.type)
            if ("json.loads(" in body or "json.load(" in body) and "ValueError" in caught:
                found += [] if "RecursionError" in caught else [f"{file}:{tried.lineno}"]
    assert found == []
