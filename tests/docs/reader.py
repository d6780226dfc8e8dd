"""A simulated reader who types the commands of a page, in order, in a terminal."""

import os
import pty
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.docs.blocks import Shown

BIN = Path(sys.executable).parent
APP = "http://127.0.0.1:8080"
PORT = re.compile(r" --port \d+")
TOKEN = re.compile(r"^chie_\S+$", re.MULTILINE)
SERVERS = re.compile(r"^(?:\S+=\S+ )*(?:chie serve|chie mcp|knowledge-gateway|mcp-bedrock-kb|n8n-mcp-server)\b")
COMMAND_TIMEOUT_SECONDS = 60


class Reader:
    """`home` is the reader's home folder. Exported variables stay exported, as in a terminal."""

    def __init__(self, home: Path, env: dict[str, str]) -> None:
        self.home = home
        self.env = {
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "HOME": str(home),
            "CHIE_HOME": str(home / "chie"),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            **env,
        }
        self.replacements: dict[str, str] = {}  # text on a page to its value in this test

    def type(self, shown: Shown) -> None:
        text = self._resolve(shown.text)
        if SERVERS.match(text):
            self._serve(text)
        elif text.startswith("export "):
            self.env |= dict(word.split("=", 1) for word in shlex.split(text) if "=" in word)
        elif not shown.variables:
            self._run(text)

    @contextmanager
    def app(self) -> Iterator[None]:
        """Runs the app that a page assumes to be running already."""
        process, url = self._start("chie serve")
        self.replacements[APP] = url
        try:
            yield
        finally:
            process.terminate()
            process.communicate(timeout=60)

    def _resolve(self, text: str) -> str:
        text = text.replace(".venv/bin/", "").replace("curl ", "curl --silent --show-error --fail-with-body ")
        for shown, value in self.replacements.items():
            text = re.sub(rf"{re.escape(shown)}(?!\w)", lambda _, value=value: value, text)  # type: ignore[misc]
        return text

    def _run(self, text: str) -> None:
        """Runs it in a terminal that answers yes to every question."""
        terminal, end = pty.openpty()
        os.write(terminal, b"y\n" * 5)
        try:
            done = subprocess.run(
                ["bash", "-c", text],
                stdin=end,
                capture_output=True,
                text=True,
                env=self.env,
                cwd=self.home,
                timeout=COMMAND_TIMEOUT_SECONDS,
                check=False,
            )
        finally:
            os.close(end)
            os.close(terminal)
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        if found := TOKEN.search(done.stdout):
            self.env.setdefault("TOKEN", found[0])

    def _serve(self, text: str) -> None:
        """A stdio server ends with its client; an HTTP server prints its URL and ends on SIGTERM."""
        if "serve" not in text and "--http" not in text:
            subprocess.run(
                ["bash", "-c", text],
                stdin=subprocess.DEVNULL,
                env=self.env,
                cwd=self.home,
                timeout=COMMAND_TIMEOUT_SECONDS,
                check=True,
            )
            return
        process, _ = self._start(text)
        process.terminate()
        process.communicate(timeout=60)
        assert process.returncode in (0, -signal.SIGTERM)

    def _start(self, text: str) -> "tuple[subprocess.Popen[str], str]":
        process = subprocess.Popen(
            ["bash", "-c", f"exec env {PORT.sub('', text)} --port 0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.env,
            cwd=self.home,
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, f"{text}\n{line}{process.stdout.read()}"
        return process, found[0].removesuffix("/mcp").replace("0.0.0.0", "127.0.0.1")  # noqa: S104
