"""The whole app with scripted agents in its own process: `python -m tests.e2e.app_process [port]`."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def app_process(home: Path, port: int = 0) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Its URL, and the process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.app_process", str(port)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"CHIE_HOME": str(home)},
    )
    assert process.stdout is not None
    with process.stdout:
        try:
            address = process.stdout.readline().strip()
            assert address, "the app did not start"
            yield address, process
        finally:
            process.kill()
            process.wait()


def main() -> None:
    from tests.e2e.agents import directory

    from chie.app import create_app
    from chie.http.server import run_http
    from chie.servers import load_servers

    app = create_app(load_servers(), nullcontext(directory()))
    run_http(app, host="127.0.0.1", port=int(sys.argv[1]), announce=lambda address: print(address, flush=True))  # noqa: T201


if __name__ == "__main__":
    main()
