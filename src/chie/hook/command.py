"""`chie hook CLIENT EVENT`: from standard input to standard output, silent whatever goes wrong."""

from __future__ import annotations

import json
import os
import sys
from threading import Thread

from chie.hook.claude_form import SAVING_TOOLS
from chie.hook.clients import CLIENTS, START_EVENTS
from chie.hook.login import find_login, home_folder
from chie.hook.notice import REFUSED, UNREACHABLE, forget_problem, problem_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

DEADLINE_SECONDS = 0.8  # the clients wait for the hook; with the start of the process, less than a second
RESPONSE_SECONDS = 0.6  # the rest is for the text that says so
ROUTE = "/hooks/claude-code"
MAX_BODY_BYTES = 256 * 1024
MAX_TEXT = 16 * 1024  # of each text in a larger body


def main(arguments: list[str]) -> None:
    """Ends the process, always with exit code 0: another code would block or alarm some clients."""
    printed: list[str] = []
    worker = Thread(target=_work, args=(arguments, printed), daemon=True)
    worker.start()
    worker.join(DEADLINE_SECONDS)
    try:
        if printed:
            sys.stdout.buffer.write(printed[0].encode("utf-8") + b"\n")
            sys.stdout.buffer.flush()
    except (OSError, AttributeError):
        pass
    os._exit(0)  # the worker may still wait for the server, or for the client to close standard input


def _work(arguments: list[str], printed: list[str]) -> None:
    try:
        client, event = arguments
        answer = run(client, event, sys.stdin.buffer.read(), os.environ)
    except Exception:  # noqa: BLE001 - the edge of the process: a hook never disturbs the session
        return
    if answer:
        printed.append(answer)


def run(client: str, event: str, given: bytes, env: Mapping[str, str]) -> str:
    """What to print; an empty text for nothing."""
    translator = CLIENTS[client]
    body = json.loads(given or b"{}")
    question = translator.question(event, body)
    if question is None:
        return ""
    reply = _ask(question, env, at_start=event in START_EVENTS)
    answer = translator.answer(event, reply) if reply else {}
    return json.dumps(answer, ensure_ascii=False) if answer else ""


def _ask(question: dict[str, Any], env: Mapping[str, str], *, at_start: bool) -> dict[str, Any]:
    """The server's reply, in Claude Code's form. At a session's start, a problem is the reply."""
    from chie.hook.http import ResponseError, post
    from chie.hook.repository import git_remote

    url, token = find_login(env)
    home = home_folder(env)
    question = {**question, "git_remote": git_remote(str(question.get("cwd") or ""))}
    if not at_start and _is_saving(question):
        question = _with_anchor(question)
    try:
        status, content = post(url + ROUTE, _encoded(question), token, RESPONSE_SECONDS)
    except (OSError, ResponseError, ValueError):
        return _problem(UNREACHABLE, url, home, env) if at_start else {}
    if status in (401, 403):
        return _problem(REFUSED, url, home, env) if at_start else {}
    if status not in (200, 204):
        return {}
    forget_problem(home)
    if at_start:
        _check_anchors(str(question.get("cwd") or ""))
    found = json.loads(content) if status == 200 and content.strip() else {}
    return found if isinstance(found, dict) else {}


def _is_saving(question: dict[str, Any]) -> bool:
    tool = str(question.get("tool_name") or "")
    return question.get("hook_event_name") == "PostToolUse" and tool.endswith(SAVING_TOOLS)


def _with_anchor(question: dict[str, Any]) -> dict[str, Any]:
    """The code that the saved note is about, as far as its arguments name it: only this machine has the repository."""
    from chie.anchors.fill import filled_anchor

    arguments = question.get("tool_input")
    anchor = filled_anchor(arguments if isinstance(arguments, dict) else {}, str(question.get("cwd") or "."))
    return {**question, "code_anchor": anchor} if anchor else question


def _check_anchors(folder: str) -> None:
    """Whether the code that notes are about has changed: in the background, because a session must not wait for it."""
    from chie.hook.repository import git_remote

    if folder and git_remote(folder) is not None:
        from chie.anchors.background import start

        start(folder)


def _problem(code: str, url: str, home: str, env: Mapping[str, str]) -> dict[str, Any]:
    text = problem_text(code, url, home, env)
    return {"systemMessage": text} if text else {}


def _encoded(body: dict[str, Any]) -> bytes:
    encoded = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return encoded if len(encoded) <= MAX_BODY_BYTES else json.dumps(_shortened(body)).encode()


def _shortened(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Long texts lose their middle: a command's error is at the end of its output."""
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value[:100]]
    if isinstance(value, str) and len(value) > MAX_TEXT:
        return f"{value[: MAX_TEXT // 4]}\n…\n{value[-MAX_TEXT * 3 // 4 :]}"
    return value
