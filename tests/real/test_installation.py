"""The advice of an installed Chie, followed as it is given, with the real uv."""

import json
import os
import re
import shlex
import subprocess
import venv
from pathlib import Path

import pytest
from release.build import make_wheel

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]

SETTINGS = {"BEDROCK_KB_ID": "KB12345678", "BEDROCK_MODEL_ARN": "arn:aws:bedrock:us-east-1::foundation-model/m"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_wheel(tmp_path_factory.mktemp("dist"))


@pytest.fixture
def env(uv: Path, tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    own = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin"), "HOME": str(tmp_path)}
    return {**kept, **SETTINGS, **own, "PATH": f"{uv}:{tmp_path / 'bin'}:{os.environ['PATH']}"}


def start(program: Path, env: dict[str, str], folder: Path) -> "subprocess.CompletedProcess[str]":
    """A server on stdio ends with its client."""
    return subprocess.run(
        [program, "mcp", "bedrock-kb"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=env,
        cwd=folder,
        check=False,
    )


def follow(program: Path, env: dict[str, str], folder: Path) -> None:
    refused = start(program, env, folder)
    assert refused.returncode == 1
    advice = re.search(r"boto3 is not installed\. Run `(.+?)`", refused.stderr)
    assert advice, refused.stderr
    subprocess.run(["sh", "-c", advice[1]], env=env, cwd=folder, check=True, capture_output=True)
    assert start(program, env, folder).returncode == 0, advice[1]


def test_advice_works_in_a_uv_tool(wheel: Path, env: dict[str, str], tmp_path: Path) -> None:
    subprocess.run(["uv", "tool", "install", "--quiet", wheel], env=env, check=True)
    follow(tmp_path / "bin" / "chie", env, tmp_path)


@pytest.mark.parametrize("with_pip", [True, False])
def test_advice_works_in_an_environment(wheel: Path, env: dict[str, str], tmp_path: Path, *, with_pip: bool) -> None:
    venv.create(tmp_path / "環境 1", with_pip=with_pip)
    python = tmp_path / "環境 1" / "bin" / "python"
    subprocess.run(["uv", "pip", "install", "--quiet", "--python", python, wheel], env=env, check=True)
    follow(python.with_name("chie"), env, tmp_path)


def test_connecting_through_uvx_keeps_the_extra(wheel: Path, env: dict[str, str], tmp_path: Path) -> None:
    command = ["uvx", "--quiet", "--from", f"chie[bedrock] @ {wheel.as_uri()}", "chie"]
    connect = [*command, "connect", "kiro", "--server", "bedrock-kb", "--yes"]
    subprocess.run(connect, env=env, cwd=tmp_path, check=True, capture_output=True)
    entry = json.loads((tmp_path / ".kiro" / "settings" / "mcp.json").read_text("utf-8"))["mcpServers"]["bedrock-kb"]
    assert shlex.join(entry["args"]).startswith("--from 'chie[bedrock] @ file://")
    done = subprocess.run(
        [entry["command"], *entry["args"]],
        stdin=subprocess.DEVNULL,
        env=env,
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
