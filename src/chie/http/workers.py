"""Several processes behind one address. A supervisor starts them, replaces those that die and ends them together.

Any program that ends in `run_http` can be a worker: it finds its listener in the environment instead of making one.
"""

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from chie.errors import ConfigurationError

if TYPE_CHECKING:
    from asyncio.subprocess import Process

    import uvicorn

PLACE = "CHIE_WORKER_PLACE"  # the file numbers of a worker's listener and of its line to the supervisor
METRICS = "PROMETHEUS_MULTIPROC_DIR"  # where workers count together, so that each can tell for all
BACKLOG = 2_048
GRACE_SECONDS = 20.0  # more than a worker takes to close its streams and save its answers
PAUSES = (0.0, 1.0, 2.0, 5.0, 10.0, 30.0)  # before a worker's place is taken again, if it keeps dying
STEADY_SECONDS = 60.0

logger = logging.getLogger(__name__)


def listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=_family(host))
    except OSError as error:
        raise ConfigurationError(
            f"cannot listen on {host} port {port}: {error.strerror}. Choose another port with --port, "
            "or --port 0 for any that is free."
        ) from error


def address_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run_workers(command: Sequence[str], count: int, *, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Run `command` so many times, until we are told to stop. The address is announced once, when all are ready."""
    if sys.platform == "win32":
        raise ConfigurationError("several workers need Linux or macOS. Start Chie without --workers.")
    listeners = _listeners(host, port, count)
    with tempfile.TemporaryDirectory(prefix="chie-workers-") as folder:
        supervisor = Supervisor(command, listeners, Path(folder))
        asyncio.run(supervisor.run(lambda: announce(address_of(listeners[0]))))
    if supervisor.failed:
        raise SystemExit(1)  # the worker itself has said why


def _listeners(host: str, port: int, count: int) -> list[socket.socket]:
    """One a worker: Linux deals connections out evenly among them, which workers on one listener do not.

    We keep them all open, so those who knock while a worker is being replaced wait instead of being turned away.
    """
    with listening(host, port) as probe:  # alone, so that a port in use is noticed
        where = probe.getsockname()[:2]
        if sys.platform != "linux":
            return [probe.dup()] * count
    return [socket.create_server(where, family=_family(host), backlog=BACKLOG, reuse_port=True) for _ in range(count)]


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


class Supervisor:
    """Starts the first worker alone: it brings the database up to date, and what is set wrong is said once."""

    def __init__(self, command: Sequence[str], listeners: Sequence[socket.socket], folder: Path) -> None:
        self._command = command
        self._listeners = listeners
        self._folder = folder
        self._processes: set[Process] = set()
        self._stopping = asyncio.Event()
        self._opened = False
        self.failed = False

    async def run(self, announce: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop)
        ready: list[asyncio.Future[None]] = [loop.create_future() for _ in self._listeners]
        async with asyncio.TaskGroup() as group:
            for place, (listener, signed) in enumerate(zip(self._listeners, ready, strict=True)):
                group.create_task(self._keep(listener, signed))
                if place == 0:
                    await self._either(signed)
            await self._either(asyncio.gather(*ready))
            if not self._stopping.is_set():
                self._opened = True
                announce()

    async def _either(self, ready: "asyncio.Future[Any]") -> None:
        """Wait for it, or until we stop."""
        stopping: asyncio.Future[Any] = asyncio.ensure_future(self._stopping.wait())
        await asyncio.wait({ready, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()

    async def _keep(self, listener: socket.socket, ready: "asyncio.Future[None]") -> None:
        """One place, always taken."""
        deaths = 0
        while not self._stopping.is_set():
            began = monotonic()
            await self._work(listener, ready)
            if self._stopping.is_set():
                break
            if not self._opened:
                self.failed = True
                self._stop()
            deaths = deaths + 1 if monotonic() - began < STEADY_SECONDS else 1
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), PAUSES[min(deaths, len(PAUSES)) - 1])
        listener.close()

    async def _work(self, listener: socket.socket, ready: "asyncio.Future[None]") -> None:
        """One worker, from its start to its end."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=subprocess.DEVNULL,
                env=os.environ | {PLACE: f"{listener.fileno()},{theirs.fileno()}", METRICS: str(self._folder)},
                pass_fds=(listener.fileno(), theirs.fileno()),
                process_group=0,  # Ctrl+C is for us; we tell the workers
            )
            self._processes.add(process)
            theirs.close()
            ours.setblocking(False)
            if self._stopping.is_set():
                process.terminate()
            if await asyncio.get_running_loop().sock_recv(ours, 1) and not ready.done():
                ready.set_result(None)
            code = await process.wait()
        self._processes.discard(process)
        for left in self._folder.glob(f"gauge_live*_{process.pid}.db"):
            left.unlink()
        if not self._stopping.is_set():
            then = "; another takes its place" if self._opened else " before all were ready"
            logger.warning("worker %d has ended (%s)%s", process.pid, _reason(code), then)

    def _stop(self) -> None:
        """The second time there is no more waiting."""
        again = self._stopping.is_set()
        self._stopping.set()
        for process in self._processes:
            with suppress(ProcessLookupError):
                process.kill() if again else process.terminate()
        if not again:
            asyncio.get_running_loop().call_later(GRACE_SECONDS, self._stop)


def _reason(code: int) -> str:
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name


@dataclass(frozen=True)
class Place:
    """What a worker has from its supervisor: the listener to serve, and a line that breaks when the supervisor dies."""

    listener: socket.socket
    line: socket.socket

    @classmethod
    def given(cls) -> "Place | None":
        """None in a process that is no worker."""
        numbers = os.environ.pop(PLACE, None)  # the programs that we start are no workers
        if numbers is None:
            return None
        listener, line = (socket.socket(fileno=int(number)) for number in numbers.split(","))
        for one in (listener, line):
            one.set_inheritable(False)
        return cls(listener, line)

    def is_taken(self, server: "uvicorn.Server") -> None:
        """The worker serves, until its supervisor dies."""
        self.line.send(b"1")
        Thread(target=self._end_with_the_supervisor, args=(server,), name="worker-line", daemon=True).start()

    def _end_with_the_supervisor(self, server: "uvicorn.Server") -> None:
        with suppress(OSError):
            self.line.recv(1)
        server.should_exit = True
