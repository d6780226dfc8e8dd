"""A stdio MCP server under the stop-watch: raw lines in and out, so that no client library is measured."""

import json
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self


class Server:
    def __init__(self, command: Sequence[str | Path], **environment: str) -> None:
        self._started = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | environment,
        )
        self._number = 0

    def __enter__(self) -> Self:
        client = {"name": "bench", "version": "1"}
        self.request("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.kill()
        self._process.communicate()

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._process.stdout
        result: dict[str, Any] = json.loads(self._process.stdout.readline())["result"]
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.request("tools/call", name=tool, arguments=arguments)
        assert not result["isError"], result
        return result

    def elapsed(self) -> float:
        """Seconds since the process was started."""
        return time.perf_counter() - self._started

    def cpu(self) -> float:
        """Seconds of processor time so far."""
        fields = self._proc("stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss(self) -> float:
        """Megabytes of memory now."""
        [line] = [line for line in self._proc("status").splitlines() if line.startswith("VmRSS")]
        return int(line.split()[1]) / 1024

    def _proc(self, name: str) -> str:
        return Path(f"/proc/{self._process.pid}/{name}").read_text()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
