"""Each client's hook events: which ones `chie connect` sets up, what is asked, and how the answer is printed.

The server takes Claude Code's form. docs/connect.md has the formats of the clients and where they were found.
"""

from __future__ import annotations

from chie.hook.claude_form import (
    as_object,
    as_text,
    command_body,
    context_of,
    exit_code_in,
    file_body,
    nested_reply,
    question_of,
    saving_body,
    session_body,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Json: TypeAlias = dict[str, Any]


class ClaudeCode:
    """Its own form. Only a session's start needs a command; other events come here where HTTP hooks cannot be used."""

    def question(self, event: str, body: Json) -> Json | None:
        return {**body, "hook_event_name": event}

    def answer(self, event: str, reply: Json) -> Json:  # noqa: ARG002
        return reply


class Codex:
    """Like Claude Code's form, but a command that failed is a `PostToolUse` too, and files are edited by patches."""

    def question(self, event: str, body: Json) -> Json | None:
        base = {**body, "hook_event_name": event}
        tool, given = str(body.get("tool_name") or ""), as_object(body.get("tool_input"))
        if event == "PreToolUse":
            return file_body(base, "Edit", _patched_file(as_text(given.get("command"))))
        if event != "PostToolUse":
            return base
        if tool != "Bash":
            return saving_body(base, tool, given, body.get("tool_response"))
        code = _recorded_exit_code(body.get("transcript_path"), body.get("tool_use_id"))
        return command_body(base, given.get("command"), body.get("tool_response"), code)

    def answer(self, event: str, reply: Json) -> Json:
        return nested_reply(event, reply, "block")


class Gemini:
    """`BeforeTool` takes no context, so notes about a file come with the result of the tool that read it."""

    EVENTS = {
        "SessionStart": "SessionStart",
        "BeforeAgent": "UserPromptSubmit",
        "AfterAgent": "Stop",
        "SessionEnd": "SessionEnd",
    }
    FILE_TOOLS = {"read_file": "Read", "replace": "Edit", "write_file": "Write"}

    def question(self, event: str, body: Json) -> Json | None:
        if event in self.EVENTS:
            prompt = {"prompt": _typed(body["prompt"])} if isinstance(body.get("prompt"), str) else {}
            return {**body, **prompt, "hook_event_name": self.EVENTS[event]}
        if event != "AfterTool":
            return None
        tool, given = str(body.get("tool_name") or ""), as_object(body.get("tool_input"))
        base = {key: value for key, value in body.items() if key not in ("tool_response", "tool_input", "tool_name")}
        if tool in self.FILE_TOOLS:
            return file_body(base, self.FILE_TOOLS[tool], given.get("file_path") or given.get("absolute_path"))
        response = as_object(body.get("tool_response"))
        output = as_text(response.get("llmContent"))
        if tool == "run_shell_command":
            shown = response.get("returnDisplay")  # the other text has labels around the output
            text = shown if isinstance(shown, str) and shown else output
            return command_body(base, given.get("command"), text, exit_code_in(output, "Exit Code:"))
        return saving_body(base, tool, given, output)

    def answer(self, event: str, reply: Json) -> Json:
        return nested_reply(event, reply, "deny")


class Cursor:
    """Its own names for everything. Context reaches the model at the session's start and after a tool."""

    EVENTS = {
        "sessionStart": "SessionStart",
        "beforeSubmitPrompt": "UserPromptSubmit",
        "stop": "Stop",
        "sessionEnd": "SessionEnd",
    }
    FILE_TOOLS = {"Read": "Read", "Write": "Write", "Edit": "Edit", "StrReplace": "Edit"}

    def question(self, event: str, body: Json) -> Json | None:
        roots = body.get("workspace_roots")
        folder = body.get("cwd") or (roots[0] if isinstance(roots, list) and roots else "")
        session = body.get("conversation_id") or body.get("session_id")
        name = self.EVENTS.get(event, "PostToolUse")
        base = session_body(name, session, folder)
        if event == "stop":
            return {**base, "stop_hook_active": bool(body.get("loop_count"))}
        if event in self.EVENTS:
            return {**base, **{key: body[key] for key in ("prompt", "reason") if key in body}}
        return self._tool_question(event, body, base)

    def _tool_question(self, event: str, body: Json, base: Json) -> Json | None:
        tool, given = str(body.get("tool_name") or ""), as_object(body.get("tool_input"))
        if event == "postToolUseFailure":
            return command_body(base, given.get("command"), body.get("error_message"), 1) if tool == "Shell" else None
        if event != "postToolUse":
            return None
        if tool in self.FILE_TOOLS:
            return file_body(base, self.FILE_TOOLS[tool], given.get("file_path") or given.get("path"))
        if tool != "Shell":
            return saving_body(base, tool, given, body.get("tool_output"))
        result = as_object(body.get("tool_output"))
        code = result.get("exitCode", result.get("exit_code"))
        output = "\n".join(as_text(result[key]) for key in ("output", "stdout", "stderr") if result.get(key))
        return command_body(base, given.get("command"), output, code if isinstance(code, int) else None)

    def answer(self, event: str, reply: Json) -> Json:
        context = context_of(reply)
        if event == "stop":
            return {"followup_message": question} if (question := question_of(reply)) else {}
        answer: Json = {"continue": True} if event == "beforeSubmitPrompt" else {}
        return {**answer, "additional_context": context} if context else answer


CLIENTS: dict[str, ClaudeCode | Codex | Gemini | Cursor] = {
    "claude-code": ClaudeCode(),
    "codex": Codex(),
    "gemini": Gemini(),
    "cursor": Cursor(),
}
TRANSCRIPT_TAIL_BYTES = 512 * 1024
START_EVENTS = ("SessionStart", "sessionStart")


def _recorded_exit_code(transcript: object, call: object) -> int | None:
    """Codex sends a command's output without its exit code, which is in the session's transcript by then."""
    try:
        with open(str(transcript), "rb") as file:
            file.seek(max(0, file.seek(0, 2) - TRANSCRIPT_TAIL_BYTES))
            lines = file.read().splitlines()
    except OSError:
        return None
    wanted = f'"id":"{call}"'.encode()
    for line in reversed(lines):
        if wanted in line and b'"exit_code":' in line:
            item = as_object(as_object(as_object(line.decode("utf-8", "replace")).get("payload")).get("item"))
            code = item.get("exit_code")
            return code if isinstance(code, int) else None
    return None


def _typed(prompt: str) -> str:
    """The first prompt of a session begins with what hooks have said at its start."""
    before, found, rest = prompt.rpartition("</hook_context>")
    return rest.lstrip() if found and before.startswith("<hook_context>") else prompt


def _patched_file(patch: str) -> str:
    for line in patch.splitlines():
        for mark in ("*** Update File: ", "*** Delete File: "):
            if line.startswith(mark):
                return line.removeprefix(mark).strip()
    return ""
