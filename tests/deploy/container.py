"""Runs the command of the Dockerfile as a process, without Docker."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
BIN = Path(sys.executable).parent
RUN_APP = "chie-knowledge-42.us-central1.run.app"


def instruction(name: str) -> list[str]:
    """The last ENTRYPOINT or CMD; only its exec form is JSON."""
    found: list[str] = re.findall(rf"^{name} (.*)$", (DEPLOY / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    words: list[str] = json.loads(found[-1])
    return words


@dataclass(frozen=True)
class Container:
    process: subprocess.Popen[str]
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self, timeout_seconds: float) -> int:
        """Like Cloud Run: SIGTERM, then wait."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout_seconds)


@contextmanager
def container(args: list[str] | None = None, **settings: str) -> Iterator[Container]:
    """`args` replace CMD, as in a service's YAML. PORT is 0, which takes a free port."""
    process = start(args, settings)
    try:
        assert process.stdout
        line = process.stdout.readline()
        found = re.search(r"http://[\w.]+:(\d+)", line)
        assert found, line
        yield Container(process, int(found[1]))
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def start(args: list[str] | None, settings: Mapping[str, str]) -> subprocess.Popen[str]:
    program, *rest = [*instruction("ENTRYPOINT"), *(args or instruction("CMD"))]
    own = ("CHIE_", "GOOGLE_", "VECTOR_SEARCH_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own) or name == "CHIE_HOME"}
    return subprocess.Popen(
        [BIN / program, *rest],
        cwd=DEPLOY,  # a folder without the developer's .env
        env={**kept, "PORT": "0", "PYTHONUNBUFFERED": "1", **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
