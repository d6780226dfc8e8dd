"""`chie hook`, which Codex, Gemini CLI and Cursor run at every prompt: its CPU time and its time from start to exit
with an answering server on loopback, against a Python that does nothing."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from time import monotonic

from tests.fakes.hook_bodies import hook_body
from tests.fakes.hook_server import HookServer

from bench.figure import Figure

ROUNDS = 20
EMPTY, OURS = "a Python that does nothing", "Chie"
ANSWER = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "A note."}}


def measure(command: list[str], body: bytes, env: dict[str, str]) -> tuple[float, float]:
    """CPU and wall-clock seconds of the process."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), monotonic()
    subprocess.run(command, input=body, env=env, stdout=subprocess.DEVNULL, check=True)
    elapsed, after = monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, elapsed


def main() -> list[Figure]:
    """The best of all rounds, because slower ones show the load of the machine."""
    ours = [str(Path(sys.executable).parent / "chie"), "hook", "codex", "UserPromptSubmit"]
    body = json.dumps(hook_body("user_prompt_submit")).encode()
    with HookServer({"UserPromptSubmit": ANSWER}) as server:
        env = {**os.environ, "CHIE_URL": server.url}
        rounds = [(measure([sys.executable, "-c", "pass"], body, env), measure(ours, body, env)) for _ in range(ROUNDS)]
    (empty_cpu, empty_wall), (cpu, wall) = (
        (min(one[who][0] for one in rounds), min(one[who][1] for one in rounds)) for who in (0, 1)
    )
    return [
        Figure("CPU", EMPTY, 1000 * empty_cpu, "ms"),
        Figure("CPU", OURS, 1000 * cpu, "ms", aim=100),
        Figure("start to exit", EMPTY, 1000 * empty_wall, "ms"),
        Figure("start to exit", OURS, 1000 * wall, "ms"),
    ]
