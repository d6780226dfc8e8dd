"""The real Claude Code, headless, with a scripted Messages API on loopback in place of the model."""

import json
import os
import subprocess
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from tests.fakes.loopback import Handler, Loopback
from tests.real.clients import BIN


@dataclass(frozen=True)
class Turn:
    """The model says `text`, or calls `tool`."""

    text: str = ""
    tool: str = ""
    input: dict[str, Any] = field(default_factory=dict)

    def blocks(self, number: int) -> list[dict[str, Any]]:
        said = [{"type": "text", "text": self.text}] if self.text else []
        call = {"type": "tool_use", "id": f"toolu_{number:04}", "name": self.tool, "input": self.input}
        return [*said, call] if self.tool else said


class _Handler(Handler):
    owner: "MessagesApi"

    def get(self) -> None:
        self._json({"data": [], "has_more": False})

    def post(self) -> None:
        body = json.loads(self.body() or b"{}")
        if "count_tokens" in self.path:
            return self._json({"input_tokens": 10})
        if not self.path.startswith("/v1/messages"):
            return self._json({})
        turn, number = self.owner.next_turn(body)
        message = {
            "id": f"msg_{number:04}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "m"),
            "content": turn.blocks(number),
            "stop_reason": "tool_use" if turn.tool else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }
        return self._stream(message) if body.get("stream") else self._json(message)

    def _json(self, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, message: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for kind, data in _events(message):
            line = json.dumps({"type": kind, **data}, ensure_ascii=False)
            self.wfile.write(f"event: {kind}\ndata: {line}\n\n".encode())
        self.close_connection = True


class MessagesApi(Loopback):
    """Each request with tools takes one turn of the script; `seen` are their bodies. Other requests get `ok`."""

    handler = _Handler

    def __init__(self, *script: Turn) -> None:
        self.script = deque(script)
        self.seen: list[dict[str, Any]] = []
        self.lock = Lock()

    def texts(self, request: int) -> str:
        """Everything that the model was told in this request, as one text."""
        return json.dumps(self.seen[request]["messages"], ensure_ascii=False)

    def next_turn(self, body: dict[str, Any]) -> tuple[Turn, int]:
        with self.lock:
            if not body.get("tools"):
                return Turn("ok"), 0
            self.seen.append(body)
            return (self.script.popleft() if self.script else Turn("the script has ended")), len(self.seen)


def _events(message: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "message_start", {"message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            opened: dict[str, Any] = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            opened = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"], ensure_ascii=False)}
        yield "content_block_start", {"index": index, "content_block": opened}
        yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"delta": stop, "usage": message["usage"]}
    yield "message_stop", {}


@dataclass(frozen=True)
class ClaudeCode:
    """Its home and folder are empty, and its environment has only what is given: nothing of the developer's own."""

    home: Path
    folder: Path
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.folder.mkdir(parents=True, exist_ok=True)

    def environment(self, **more: str) -> dict[str, str]:
        quiet = {
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        return {"HOME": str(self.home), "PATH": f"{BIN}:{os.environ['PATH']}", **quiet, **self.env, **more}

    def run(self, *arguments: str, seconds: float = 120, **env: str) -> str:
        """The standard output of the command, which must succeed."""
        done = subprocess.run(
            [BIN / "claude", *arguments],
            env=self.environment(**env),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=seconds,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def ask(self, api: MessagesApi, prompt: str, *arguments: str) -> list[dict[str, Any]]:
        """The messages of one headless session, as Claude Code reports them."""
        printed = self.run(
            "-p",
            prompt,
            "--output-format",
            "stream-json",
            "--verbose",
            "--include-hook-events",
            *arguments,
            ANTHROPIC_BASE_URL=api.url,
            ANTHROPIC_API_KEY="test",
        )
        return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
