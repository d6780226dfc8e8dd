"""The hooks that `chie connect gemini --memory` writes, in the real Gemini CLI with a scripted API for its model."""

import json
import os
import subprocess
from collections import deque
from pathlib import Path
from typing import Any

import pytest
from tests.app.processes import BIN
from tests.fakes.hook_server import HookServer
from tests.fakes.loopback import Handler, Loopback
from tests.real.clients import run

pytestmark = [pytest.mark.real, pytest.mark.timeout(300), pytest.mark.req("ME-14")]

FAILING = {"command": "echo 'ModuleNotFoundError: No module named requests' >&2; exit 2"}


class _Handler(Handler):
    owner: "GeminiApi"

    def post(self) -> None:
        part = self.owner.part(json.loads(self.body()))
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        text = json.dumps({"candidates": [candidate], "usageMetadata": usage})
        streamed = "stream" in self.path
        data = (f"data: {text}\n\n" if streamed else text).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if streamed else "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class GeminiApi(Loopback):
    """Each request with tools takes one part of the script."""

    handler = _Handler

    def __init__(self, *script: dict[str, Any]) -> None:
        self.script = deque(script)
        self.seen: list[dict[str, Any]] = []

    def part(self, body: dict[str, Any]) -> dict[str, Any]:
        if not body.get("tools"):
            return {"text": "ok"}
        self.seen.append(body)
        return self.script.popleft() if self.script else {"text": "the script has ended"}

    def texts(self, request: int) -> str:
        return json.dumps(self.seen[request]["contents"], ensure_ascii=False)


def call(name: str, **arguments: str) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": arguments}}


@pytest.fixture
def user(tmp_path: Path) -> Path:
    user = tmp_path / "user"
    (user / ".gemini").mkdir(parents=True)
    (user / "project").mkdir()
    (user / "project" / "app.py").write_text("x = 1\n")
    (user / ".gemini" / "trustedFolders.json").write_text(json.dumps({str(user / "project"): "TRUST_FOLDER"}))
    (user / ".gemini" / "settings.json").write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}\n')
    return user


def connect(user: Path, *arguments: str) -> None:
    command = [str(BIN / "chie"), "connect", "gemini", "--memory", "--yes", *arguments]
    subprocess.run(command, env={**os.environ, "HOME": str(user)}, capture_output=True, check=True)


def ask(user: Path, api: GeminiApi, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("GEMINI_API_KEY", "test")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", api.url)
    options = ("--yolo", "--model", "gemini-2.5-pro")
    return run("gemini", "--prompt", "なぜ失敗する?", *options, home=user, folder=user / "project")


def reply(event: str) -> dict[str, Any]:
    context = {"hookEventName": event, "additionalContext": f"ノート {event}"}
    return {"hookSpecificOutput": context, "systemMessage": "Chie: 1 note recalled"}


def test_prompt_failed_command_and_file_get_their_notes(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = user / ".gemini" / "settings.json"
    before = settings.read_text()
    events = ("SessionStart", "UserPromptSubmit", "PostToolUseFailure", "PreToolUse")
    with HookServer({event: reply(event) for event in events}) as hooks:
        connect(user, "--http", hooks.url)
        script = (call("run_shell_command", **FAILING), call("read_file", file_path="app.py"), {"text": "直りました"})
        with GeminiApi(*script) as api:
            printed = ask(user, api, monkeypatch)
    assert "直りました" in printed
    assert "Chie: 1 note recalled" in printed
    asked = [call.body for call in hooks.calls if call.path == "/hooks/claude-code"]
    assert [body["hook_event_name"] for body in asked] == [*events, "Stop", "SessionEnd"]
    assert asked[1]["prompt"] == "なぜ失敗する?"
    assert asked[2]["error"] == "Exit code 2\nModuleNotFoundError: No module named requests"
    assert asked[3]["tool_input"] == {"file_path": "app.py"}
    assert "ノート SessionStart" in api.texts(0)
    assert "ノート UserPromptSubmit" in api.texts(0)
    assert "ノート PostToolUseFailure" in api.texts(1)
    assert "ノート PreToolUse" in api.texts(2)
    connect(user, "--remove")
    assert settings.read_text() == before


@pytest.mark.req("ME-6")
def test_session_goes_on_without_chie(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with HookServer() as closed:
        url = closed.url
    connect(user, "--http", url)
    with GeminiApi(call("run_shell_command", **FAILING), {"text": "直りました"}) as api:
        printed = ask(user, api, monkeypatch)
    assert "直りました" in printed
    assert "cannot be reached" in printed
