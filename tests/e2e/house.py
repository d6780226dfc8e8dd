"""The whole house with scripted agents as a process of its own: `python -m tests.e2e.house [port]`."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def house(home: Path, port: int = 0) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Its address, and the process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.house", str(port)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"CHIE_HOME": str(home)},
    )
    assert process.stdout is not None
    with process.stdout:
        try:
            address = process.stdout.readline().strip()
            assert address, "the house did not start"
            yield address, process
        finally:
            process.kill()
            process.wait()


def main() -> None:
    from tests.e2e.agents import directory

    from chie.app import create_house
    from chie.mcp_kit.server import run_http
    from chie.servers import open_rooms

    app = create_house(open_rooms(), directory())
    run_http(app, host="127.0.0.1", port=int(sys.argv[1]), announce=lambda address: print(address, flush=True))  # noqa: T201


if __name__ == "__main__":
    main()
