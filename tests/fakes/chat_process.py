"""The chat with scripted agents in a process of its own, to be killed: `python -m tests.fakes.chat_process`."""

import os
import signal
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from sqlalchemy import URL

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "tests.fakes.chat_process"]


@contextmanager
def chat_process(url: URL, *options: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Its URL, and the process. `--workers=2` starts a supervisor, `--log=FILE` a log."""
    database = url.set(drivername=url.get_backend_name()).render_as_string(hide_password=False)
    process = subprocess.Popen(
        [*COMMAND, *options],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"CHIE_DATABASE_URL": database},
    )
    assert process.stdout is not None
    with process.stdout:
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()
            process.wait()


def serve(*, workers: int = 1, log: Path | None = None, dies_before_sending: bool = False) -> None:
    from chie.http.workers import run_workers
    from chie.logging import configure

    if log:
        configure("info", log)
    options = [f"--log={log}"] if log else []
    if workers > 1:
        return run_workers([*COMMAND, *options], workers, host="127.0.0.1", port=0, announce=_announce)
    from tests.fakes.agents import FakeRegistry
    from tests.fakes.chat import create_chat_app

    from chie.chat.runs import lease_keeper, queue_sender
    from chie.http.server import run_http

    vars(lease_keeper)["RENEW_INTERVAL"] = timedelta(seconds=0.2)  # dead processes are found soon
    vars(queue_sender)["INTERVAL_SECONDS"] = 0.2
    if dies_before_sending:
        vars(queue_sender)["QueueSender"]._start = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    app = create_chat_app(FakeRegistry(), save_seconds=0.05)
    return run_http(app, host="127.0.0.1", port=0, announce=_announce)


def _announce(url: str) -> None:
    print(url, flush=True)  # noqa: T201


def main() -> None:
    parser = ArgumentParser()
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--dies-before-sending", action="store_true")
    serve(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
