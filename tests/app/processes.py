"""Real processes of ours, talked to the way hosts do."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

BIN = Path(sys.executable).parent


class StdioServer:
    """A server on stdio, spoken to in raw lines, so that anything else on its stdout would be noticed."""

    def __init__(self, *command: str, environment: Mapping[str, str] | None = None, folder: Path | None = None) -> None:
        self.process = subprocess.Popen(
            [BIN / command[0], *command[1:]],
            env=environment,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._number = 0

    def __enter__(self) -> Self:
        self.request(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "test", "version": "1"},
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        message: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        return message

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        answer = self.receive()
        assert answer["id"] == self._number
        result: dict[str, Any] = answer["result"]
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.request("tools/call", name=tool, arguments=arguments)
        return result

    def stop(self) -> tuple[str, str]:
        """End it as a host does, by closing its stdin; what it still wrote."""
        return self.process.communicate(timeout=60)


@contextmanager
def http_server(*command: str) -> Iterator[str]:
    """A server on a free port; its address as it announced it."""
    process = subprocess.Popen(
        [BIN / command[0], *command[1:], "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    try:
        assert process.stdout
        line = process.stdout.readline()
        address = next((word for word in line.split() if word.startswith("http://")), None)
        assert address, line + process.stdout.read()
        yield address.removesuffix("/mcp")
    finally:
        process.terminate()
        process.communicate(timeout=60)
        assert process.returncode in (0, -signal.SIGTERM)  # uvicorn ends in order, then as the signal asks
