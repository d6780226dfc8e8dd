"""The chat with scripted agents as a process of its own, to be killed: `python -m tests.fakes.chat_process`."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL

ROOT = Path(__file__).parents[2]


@contextmanager
def chat_process(url: URL) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Its address, and the process."""
    address = url.set(drivername=url.get_backend_name()).render_as_string(hide_password=False)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.chat_process"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"CHIE_DATABASE_URL": address},
    )
    assert process.stdout is not None
    with process.stdout:
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()
            process.wait()


def main() -> None:
    from tests.fakes.agents import FakeDirectory

    from chie.chat.app import create_app
    from chie.mcp_kit.serve import run_http

    app = create_app(FakeDirectory(), save_seconds=0.05)
    run_http(app, host="127.0.0.1", port=0, announce=lambda address: print(address, flush=True))  # noqa: T201


if __name__ == "__main__":
    main()
