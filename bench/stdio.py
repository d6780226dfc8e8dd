"""Measures a stdio MCP server with raw lines in and out, so that no client library is measured."""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench import process


class ServerError(Exception):
    """The server's error, or the end of its stderr."""


class Server:
    def __init__(self, command: Sequence[str | Path], **environment: str) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed on exit
        self._started = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=os.environ | environment,
        )
        self._number = 0

    def __enter__(self) -> Self:
        client = {"name": "bench", "version": "1"}
        try:
            self.request("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        except ServerError:
            self.__exit__(None, None, None)
            raise
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._answer(self._number)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.request("tools/call", name=tool, arguments=arguments)
        if result.get("isError"):
            raise ServerError(_text(result))
        return result

    def elapsed(self) -> float:
        """Seconds since the process was started."""
        return time.perf_counter() - self._started

    def cpu(self) -> float:
        """Seconds of processor time so far."""
        return process.cpu(self._process.pid)

    def rss(self) -> float:
        """Megabytes of memory now."""
        return process.rss(self._process.pid)

    def _answer(self, number: int) -> dict[str, Any]:
        """Skips notifications, and lines that some servers print outside the protocol."""
        assert self._process.stdout
        for line in self._process.stdout:
            message = json.loads(line) if line.startswith(b"{") else {}
            if message.get("id") == number:
                if "error" in message:
                    raise ServerError(message["error"]["message"])
                result: dict[str, Any] = message["result"]
                return result
        raise ServerError(self._last_words())

    def _last_words(self) -> str:
        """The end of the stderr of a server that died."""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "the process ended without a word"

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


def _text(result: dict[str, Any]) -> str:
    return " ".join(part["text"] for part in result["content"] if part["type"] == "text")
