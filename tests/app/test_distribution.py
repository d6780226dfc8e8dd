"""Contents of the files of a release. `tests/real/test_distribution.py` installs and runs them."""

import json
import re
import zipfile
from configparser import ConfigParser
from email.parser import Parser
from pathlib import Path

import pytest
from jsonschema import validate
from release.__main__ import check_versions
from release.build import PAGE, PLUG_IN, ROOT, WHEEL_LIMIT_MB, make_wheel
from release.bundle import pack
from tests.app.processes import StdioServer
from tests.fakes.vscode import compose

from chie import __version__
from chie.servers import SERVERS

SECRETS = re.compile(rb"AKIA[0-9A-Z]{16}|sk-[A-Za-z0-9_-]{20,}|-----BEGIN [A-Z ]*PRIVATE KEY|xox[bp]-[0-9]{8}")

UNWANTED = re.compile(r"(^|/)(tests?|\.env|node_modules|__pycache__)(/|$)|\.(db|log|map|pyc)$")

# Our version of the registry's schema for server.json, which no package provides.
CARD = {
    "type": "object",
    "required": ["$schema", "name", "description", "version", "packages"],
    "properties": {
        "name": {"type": "string", "pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "minLength": 3, "maxLength": 200},
        "title": {"type": "string", "minLength": 1, "maxLength": 100},
        "description": {"type": "string", "minLength": 1, "maxLength": 100},
        "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+[\w.+-]*$", "maxLength": 255},
        "packages": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/package"}},
    },
    "$defs": {
        "package": {
            "type": "object",
            "required": ["registryType", "identifier", "version", "transport"],
            "properties": {
                "registryType": {"enum": ["pypi", "npm", "oci", "nuget", "cargo", "mcpb"]},
                "transport": {"type": "object", "properties": {"type": {"const": "stdio"}}, "required": ["type"]},
                "runtimeArguments": {"type": "array", "items": {"$ref": "#/$defs/argument"}},
                "packageArguments": {"type": "array", "items": {"$ref": "#/$defs/argument"}},
                "environmentVariables": {"type": "array", "items": {"type": "object", "required": ["name"]}},
            },
            "dependentRequired": {"runtimeArguments": ["runtimeHint"]},
        },
        "argument": {
            "type": "object",
            "required": ["type"],
            "oneOf": [
                {"properties": {"type": {"const": "named"}}, "required": ["name"]},
                {"properties": {"type": {"const": "positional"}}, "required": ["value"]},
            ],
        },
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not PAGE.is_file():
        pytest.skip("the page is not built: `make test` builds it")
    return make_wheel(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def wheel(file: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(file)


def test_wheel_contains_everything_needed_offline(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    assert {
        "chie/py.typed",
        "chie/start_page.html",
        "chie/static/index.html",
        "chie/chat/sessions/migrations/script.py.mako",
        "chie/knowledge/embedding/default/model.onnx",
        "chie/knowledge/review/pairs/model.onnx",
        "chie/knowledge/embedding/default/tokenizer.json",
        "chie/knowledge/search_view.js",
        "chie/n8n/graph_view.js",
        "chie/mcp_kit/view.js",
        "chie/mcp_kit/view.css",
    } <= names
    source = {str(file.relative_to(ROOT / "src")) for file in (ROOT / "src" / "chie").rglob("*.py")}
    assert source <= names
    assert [name for name in names if name.startswith("chie/static/assets/") and name.endswith(".js")]


def test_wheel_contains_licences_and_commands(wheel: zipfile.ZipFile) -> None:
    info = f"chie-{__version__}.dist-info"
    assert {f"{info}/licenses/LICENSE", f"{info}/licenses/src/chie/knowledge/embedding/default/NOTICE.txt"} <= set(
        wheel.namelist()
    )
    about = Parser().parsestr(wheel.read(f"{info}/METADATA").decode())
    assert (about["Name"], about["Version"], about["License-Expression"]) == ("chie", __version__, "Apache-2.0")
    assert about["Requires-Python"] == ">=3.11"
    commands = re.findall(r"^([\w-]+) = ", wheel.read(f"{info}/entry_points.txt").decode(), re.MULTILINE)
    assert set(commands) == {"chie", "knowledge-gateway", "mcp-bedrock-kb", "n8n-mcp-server"}
    assert len(commands) == len(SERVERS) + 1


def test_wheel_contains_no_unwanted_files(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    assert {name.split("/")[0] for name in names} == {"chie", f"chie-{__version__}.dist-info"}
    assert [name for name in names if UNWANTED.search(name)] == []
    texts = {name: wheel.read(name) for name in names if not name.endswith(".onnx")}
    assert [name for name, text in texts.items() if SECRETS.search(text) or str(ROOT).encode() in text] == []


def test_base_install_has_no_heavy_sdk(wheel: zipfile.ZipFile) -> None:
    about = Parser().parsestr(wheel.read(f"chie-{__version__}.dist-info/METADATA").decode())
    base = {re.split(r"[^\w-]", need)[0] for need in about.get_all("Requires-Dist", []) if "extra ==" not in need}
    assert (
        base & {"boto3", "openai", "anthropic", "psycopg", "google-cloud-vectorsearch", "tokenizers", "torch"} == set()
    )
    assert set(about.get_all("Provides-Extra", [])) >= {"openai", "bedrock", "google", "postgres", "anthropic", "all"}


def test_wheel_is_within_its_size_limit(file: Path) -> None:
    assert file.stat().st_size <= WHEEL_LIMIT_MB * 1_000_000


def test_plug_in_wheel_brings_its_agent_and_sdk(tmp_path: Path) -> None:
    wheel = zipfile.ZipFile(make_wheel(tmp_path, PLUG_IN))
    info = f"chie_agent_adk-{__version__}.dist-info"
    assert {name.split("/")[0] for name in wheel.namelist()} == {"chie_agent_adk", info}
    about = Parser().parsestr(wheel.read(f"{info}/METADATA").decode())
    required = {re.split(r"[^\w-]", need)[0] for need in about.get_all("Requires-Dist", [])}
    assert required == {"chie", "anthropic", "httpx2"}
    entries = ConfigParser()
    entries.read_string(wheel.read(f"{info}/entry_points.txt").decode())
    assert dict(entries["chie.agents"]) == {"adk": "chie_agent_adk.agent:create_agent"}


def test_make_run_and_the_image_install_the_plug_in() -> None:
    """The setup page asks only for an Anthropic key, so the plug-in must be installed."""
    folder = PLUG_IN.relative_to(ROOT)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = makefile.partition("\n$(RUN):")[2].partition("\n\n")[0]
    assert re.search(rf"PIP\).* -e \. -e {folder}$", recipe, re.MULTILINE)
    image = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    assert re.search(rf"^RUN pip install .*--no-deps .* \. \./{folder} ", image, re.MULTILINE)
    for lock in ("run.txt", "image.txt"):
        text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
        assert {"openai", "anthropic"} <= set(re.findall(r"^([\w.-]+)==", text, re.MULTILINE)), lock


def test_bundle_starts_the_server_from_the_wheel(file: Path, tmp_path: Path) -> None:
    bundle = zipfile.ZipFile(pack(file, tmp_path))
    assert set(bundle.namelist()) == {"manifest.json", "pyproject.toml", "server.py", file.name}
    manifest = json.loads(bundle.read("manifest.json"))
    assert manifest["version"] == __version__
    assert {tool["name"] for tool in manifest["tools"]} >= {"save_knowledge", "search_knowledge", "delete_knowledge"}
    assert file.name in bundle.read("pyproject.toml").decode()
    assert bundle.read(file.name) == file.read_bytes()


def test_server_json_is_valid_and_has_this_version() -> None:
    card = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    validate(card, CARD)
    check_versions()
    assert f"mcp-name: {card['name']}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_command_that_vs_code_makes_of_server_json_starts_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`uvx chie@VERSION …` runs the package's `chie` with the other arguments; `make real` does it with uvx."""
    [package] = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))["packages"]
    command = compose(package)
    assert (command.program, command.arguments[0]) == ("uvx", f"chie@{__version__}")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name, value in command.environment.items():
        monkeypatch.setenv(name, value)
    with StdioServer("chie", *command.arguments[1:]) as server:
        tools = {tool["name"] for tool in server.request("tools/list")["tools"]}
        saved = server.request("tools/call", name="save_knowledge", arguments={"content": "設定なしで保存"})
    assert {"save_knowledge", "search_knowledge"} <= tools
    assert not saved.get("isError")
    assert (tmp_path / "data" / "chie" / "chie.db").is_file()
