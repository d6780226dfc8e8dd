"""The app in a process of its own, logging at DEBUG."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.app.processes import BIN


@contextmanager
def app_process(log: Path, environment: dict[str, str]) -> Iterator[str]:
    with log.open("w") as errors:
        process = subprocess.Popen(
            [BIN / "chie", "serve", "--port", "0", "--log-level", "debug"],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | environment,
        )
        try:
            assert process.stdout
            yield next(word for word in process.stdout.readline().split() if word.startswith("http://"))
        finally:
            process.terminate()
            process.communicate(timeout=60)
