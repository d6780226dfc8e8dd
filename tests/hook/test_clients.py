"""The hook formats of Codex, Gemini CLI and Cursor, translated to Claude Code's form and back."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hook_server import HookServer

from chie.hook.command import run

pytestmark = pytest.mark.req("ME-14")

BASE = {"session_id": "s-1", "cwd": "/project", "transcript_path": None}
CURSOR = {"conversation_id": "s-1", "workspace_roots": ["/project"], "cursor_version": "3.1"}
FAILED = "ModuleNotFoundError: No module named 知恵"


def reply(event: str) -> dict[str, Any]:
    context = {"hookEventName": event, "additionalContext": f"ノート for {event}"}
    return {"hookSpecificOutput": context, "systemMessage": "Chie: 1 note recalled"}


ANSWERS: dict[str, Any] = {
    **{event: reply(event) for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUseFailure")},
    "Stop": {"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "Save it."}},
}


def ask(client: str, event: str, body: dict[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """What the server was asked, without the rest of the session's fields, and what was printed."""
    with HookServer(ANSWERS) as server:
        printed = run(client, event, json.dumps(body).encode(), {"CHIE_URL": server.url})
    asked = server.calls[0].body if server.calls else None
    return asked, json.loads(printed or "{}")


def nested(event: str, server_event: str) -> dict[str, Any]:
    context = {"hookEventName": event, "additionalContext": f"ノート for {server_event}"}
    return {"hookSpecificOutput": context, "systemMessage": "Chie: 1 note recalled"}


@pytest.mark.parametrize(("client", "event"), [("codex", "UserPromptSubmit"), ("gemini", "BeforeAgent")])
def test_prompt_gets_notes_in_the_form_of_codex_and_gemini(client: str, event: str) -> None:
    asked, printed = ask(client, event, {**BASE, "hook_event_name": event, "prompt": "なぜ失敗する?"})
    assert asked
    assert (asked["hook_event_name"], asked["prompt"], asked["session_id"]) == (
        "UserPromptSubmit",
        "なぜ失敗する?",
        "s-1",
    )
    assert printed == nested(event, "UserPromptSubmit")


def test_prompt_in_cursor_goes_on_whatever_happens() -> None:
    asked, printed = ask("cursor", "beforeSubmitPrompt", {**CURSOR, "prompt": "why?"})
    assert asked
    assert (asked["session_id"], asked["cwd"], asked["prompt"]) == ("s-1", "/project", "why?")
    assert printed == {"continue": True, "additional_context": "ノート for UserPromptSubmit"}


def codex_command(tmp_path: Path, code: int) -> dict[str, Any]:
    """The exit code is in the transcript alone."""
    item = {"type": "CommandExecution", "id": "c1", "exit_code": code}
    lines = [{"payload": {"type": "function_call", "call_id": "c1"}}, {"payload": {"item": item}}]
    file = tmp_path / "rollout.jsonl"
    file.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines), "utf-8")
    tool = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": FAILED, "tool_use_id": "c1"}
    return {**BASE, **tool, "transcript_path": str(file)}


def gemini_command(code: int) -> dict[str, Any]:
    ending = f"\nExit Code: {code}" if code else ""
    content = f"<untrusted_context>\nOutput: {FAILED}{ending}\nProcess Group PGID: 7\n</untrusted_context>"
    tool = {"tool_name": "run_shell_command", "tool_input": {"command": "make"}}
    return {**BASE, **tool, "tool_response": {"llmContent": content, "returnDisplay": FAILED}}


def test_prompt_of_gemini_is_freed_from_what_hooks_said() -> None:
    prompt = "<hook_context>Chie: 2 notes</hook_context>\n\nwhy <hook_context>?"
    asked, _ = ask("gemini", "BeforeAgent", {**BASE, "prompt": prompt})
    assert asked
    assert asked["prompt"] == "why <hook_context>?"


def cursor_command(code: int) -> dict[str, Any]:
    output = json.dumps({"exitCode": code, "stdout": FAILED})
    return {**CURSOR, "tool_name": "Shell", "tool_input": {"command": "make"}, "tool_output": output}


@pytest.mark.parametrize("code", [0, 2])
@pytest.mark.parametrize("client", ["codex", "gemini", "cursor"])
def test_command_is_reported_as_failed_only_if_it_failed(client: str, code: int, tmp_path: Path) -> None:
    event, body = {
        "codex": ("PostToolUse", codex_command(tmp_path, code)),
        "gemini": ("AfterTool", gemini_command(code)),
        "cursor": ("postToolUse", cursor_command(code)),
    }[client]
    asked, printed = ask(client, event, body)
    assert asked
    assert (asked["tool_name"], asked["tool_input"]) == ("Bash", {"command": "make"})
    if code:
        assert asked["hook_event_name"] == "PostToolUseFailure"
        assert asked["error"] == f"Exit code 2\n{FAILED}"
        assert "ノート for PostToolUseFailure" in json.dumps(printed, ensure_ascii=False)
    else:
        assert asked["hook_event_name"] == "PostToolUse"
        assert asked["tool_response"]["stdout"] == FAILED
        assert printed == {}


def test_command_that_cursor_could_not_finish_has_failed() -> None:
    body = {**CURSOR, "tool_name": "Shell", "tool_input": {"command": "make"}, "error_message": "timed out"}
    asked, _ = ask("cursor", "postToolUseFailure", body)
    assert asked
    assert asked["error"] == "Exit code 1\ntimed out"


@pytest.mark.parametrize(
    ("client", "event", "tool", "given", "name"),
    [
        ("gemini", "AfterTool", "read_file", {"file_path": "src/app.py"}, "Read"),
        ("gemini", "AfterTool", "replace", {"file_path": "src/app.py"}, "Edit"),
        ("cursor", "postToolUse", "Read", {"file_path": "src/app.py"}, "Read"),
        ("codex", "PreToolUse", "apply_patch", {"command": "*** Begin Patch\n*** Update File: src/app.py\n"}, "Edit"),
    ],
)
def test_file_gets_its_notes(client: str, event: str, tool: str, given: dict[str, Any], name: str) -> None:
    base = CURSOR if client == "cursor" else BASE
    asked, printed = ask(client, event, {**base, "tool_name": tool, "tool_input": given})
    assert asked
    assert (asked["hook_event_name"], asked["tool_name"]) == ("PreToolUse", name)
    assert asked["tool_input"] == {"file_path": "src/app.py"}
    assert "ノート for PreToolUse" in json.dumps(printed, ensure_ascii=False)


@pytest.mark.parametrize(
    ("client", "event", "tool", "response"),
    [
        ("codex", "PostToolUse", "mcp__knowledge__save_knowledge", {"tool_response": '{"id":"k-1"}'}),
        ("gemini", "AfterTool", "mcp_knowledge_save_knowledge", {"tool_response": {"llmContent": '{"id":"k-1"}'}}),
        ("cursor", "postToolUse", "MCP:save_knowledge", {"tool_output": '{"id":"k-1"}'}),
    ],
)
def test_saved_note_is_reported(client: str, event: str, tool: str, response: dict[str, Any]) -> None:
    base = CURSOR if client == "cursor" else BASE
    asked, printed = ask(client, event, {**base, "tool_name": tool, "tool_input": {"title": "T"}, **response})
    assert asked
    assert (asked["hook_event_name"], asked["tool_name"]) == ("PostToolUse", "mcp__knowledge__save_knowledge")
    assert asked["tool_response"] == '{"id":"k-1"}'
    assert printed == {}


@pytest.mark.parametrize(
    ("client", "event", "body", "expected"),
    [
        ("codex", "Stop", {**BASE, "stop_hook_active": False}, {"decision": "block", "reason": "Save it."}),
        ("gemini", "AfterAgent", {**BASE, "stop_hook_active": False}, {"decision": "deny", "reason": "Save it."}),
        ("cursor", "stop", {**CURSOR, "loop_count": 0}, {"followup_message": "Save it."}),
    ],
)
def test_stop_asks_in_the_words_of_the_client(
    client: str, event: str, body: dict[str, Any], expected: dict[str, Any]
) -> None:
    asked, printed = ask(client, event, body)
    assert asked
    assert (asked["hook_event_name"], asked["stop_hook_active"]) == ("Stop", False)
    assert printed == expected


def test_cursor_tells_whether_a_hook_already_asked() -> None:
    asked, _ = ask("cursor", "stop", {**CURSOR, "loop_count": 1})
    assert asked
    assert asked["stop_hook_active"] is True


@pytest.mark.parametrize(
    ("client", "event", "body"),
    [
        ("codex", "PreToolUse", {**BASE, "tool_name": "Bash", "tool_input": {"command": "ls"}}),
        ("codex", "PostToolUse", {**BASE, "tool_name": "view_image", "tool_input": {}}),
        ("gemini", "BeforeTool", {**BASE, "tool_name": "read_file", "tool_input": {}}),
        ("gemini", "AfterTool", {**BASE, "tool_name": "glob", "tool_input": "not an object"}),
        ("cursor", "afterFileEdit", {**CURSOR, "file_path": "x"}),
        ("cursor", "postToolUse", {**CURSOR, "tool_name": "Grep", "tool_input": {}}),
    ],
)
def test_other_events_ask_nothing(client: str, event: str, body: dict[str, Any]) -> None:
    assert ask(client, event, body) == (None, {})


@pytest.mark.parametrize(
    ("client", "event"), [("codex", "SessionStart"), ("gemini", "SessionStart"), ("cursor", "sessionStart")]
)
def test_session_start_says_that_the_memory_is_connected(client: str, event: str) -> None:
    asked, printed = ask(client, event, CURSOR if client == "cursor" else {**BASE, "source": "startup"})
    assert asked
    assert (asked["hook_event_name"], asked["cwd"], asked["git_remote"]) == ("SessionStart", "/project", None)
    assert "ノート for SessionStart" in json.dumps(printed, ensure_ascii=False)
