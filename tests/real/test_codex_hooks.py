"""The hooks that `chie connect codex --memory` writes, in the real Codex."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.app.processes import BIN
from tests.fakes.hook_server import HookServer
from tests.real.clients import run
from tests.real.responses_api import ResponsesApi

pytestmark = [pytest.mark.real, pytest.mark.timeout(300), pytest.mark.req("ME-14")]

FAILING = "$ echo 'ModuleNotFoundError: No module named requests' >&2; exit 2"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CODEX_HOME", raising=False)
    user = tmp_path / "user"
    (user / ".codex").mkdir(parents=True)
    (user / "project").mkdir()
    return user


def connect(user: Path, *arguments: str) -> None:
    command = [str(BIN / "chie"), "connect", "codex", "--memory", "--yes", *arguments]
    subprocess.run(command, env={**os.environ, "HOME": str(user)}, capture_output=True, check=True)


def ask(user: Path, api: ResponsesApi) -> str:
    """Without the MCP server, which the server of these tests is not."""
    provider = f'[model_providers.scripted]\nname = "s"\nbase_url = "{api.url}/v1"\nwire_api = "responses"\n'
    (user / ".codex" / "config.toml").write_text(f'model = "m"\nmodel_provider = "scripted"\n{provider}')
    options = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust")
    return run("codex", "exec", *options, "なぜ失敗する?", home=user, folder=user / "project")


def reply(event: str) -> dict[str, Any]:
    context = {"hookEventName": event, "additionalContext": f"ノート {event}"}
    return {"hookSpecificOutput": context, "systemMessage": "Chie: 1 note recalled"}


def test_prompt_and_failed_command_get_their_notes(user: Path) -> None:
    answers: dict[str, Any] = {e: reply(e) for e in ("SessionStart", "UserPromptSubmit", "PostToolUseFailure")}
    with HookServer(answers) as hooks, ResponsesApi(FAILING, "$ echo done", "直りました") as api:
        connect(user, "--http", hooks.url)
        printed = ask(user, api)
    assert "直りました" in printed
    events = [call.body["hook_event_name"] for call in hooks.calls]
    assert events == ["SessionStart", "UserPromptSubmit", "PostToolUseFailure", "PostToolUse", "Stop", "SessionEnd"]
    (failure,) = hooks.bodies("PostToolUseFailure")
    assert failure["error"].startswith("Exit code 2\nModuleNotFoundError")
    assert hooks.bodies("UserPromptSubmit")[0]["prompt"] == "なぜ失敗する?"
    assert "ノート SessionStart" in api.texts(0)
    assert "ノート UserPromptSubmit" in api.texts(0)
    assert "ノート PostToolUseFailure" in api.texts(1)


@pytest.mark.req("ME-6")
def test_session_goes_on_without_chie(user: Path) -> None:
    with HookServer() as closed:
        url = closed.url
    connect(user, "--http", url)
    with ResponsesApi(FAILING, "直りました") as api:
        printed = ask(user, api)
    assert "直りました" in printed
    assert "Failed" not in printed


def test_codex_lists_the_hooks_and_forgets_them(user: Path) -> None:
    file = user / ".codex" / "hooks.json"
    file.write_text('{"hooks": {}}\n')
    connect(user)
    assert set(json.loads(file.read_text())["hooks"]) >= {"SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"}
    connect(user, "--remove")
    assert file.read_text() == '{"hooks": {}}\n'
