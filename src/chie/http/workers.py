"""Several worker processes on one port. A supervisor starts them, replaces those that die and stops them together.

Any program that ends in `run_http` can be a worker: it inherits its listener instead of opening one.
"""

import asyncio
import ipaddress
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

WORKER_SOCKETS = "CHIE_WORKER_SOCKETS"  # file descriptors of a worker's listener and of its supervisor socket
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # shared counters, so that each worker can report the sum
BACKLOG = 2_048
GRACE_SECONDS = 20.0  # longer than a worker needs to drain its streams and save its runs
RESTART_DELAYS = (0.0, 1.0, 2.0, 5.0, 10.0, 30.0)  # for a worker that keeps dying
STABLE_SECONDS = 60.0  # a worker that lived this long restarts without a delay

logger = logging.getLogger(__name__)


def listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=_family(host))
    except OSError as error:
        raise ConfigurationError("http.cannot_listen", host=host, port=port, reason=error.strerror or "") from error


def urls_of(listener: socket.socket) -> list[str]:
    """URLs that one can open, so not the unspecified address: this machine's name for itself and for others instead."""
    host, port = listener.getsockname()[:2]
    hosts = [host]
    if ipaddress.ip_address(host).is_unspecified:
        hosts = ["::1" if ":" in host else "127.0.0.1", *_own_address(listener.family)]
    return [f"http://[{one}]:{port}" if ":" in one else f"http://{one}:{port}" for one in hosts]


def _own_address(family: int) -> list[str]:
    """The address of the interface to other networks; connecting a datagram socket sends nothing."""
    elsewhere = "2001:db8::1" if family == socket.AF_INET6 else "192.0.2.1"  # reserved for documentation
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((elsewhere, 9))
        return [str(probe.getsockname()[0])]
    return []


def run_workers(command: Sequence[str], count: int, *, host: str, port: int, announce: Callable[..., None]) -> None:
    """Run `count` processes of `command` until stopped. `announce` gets the URLs once, when all are ready."""
    if sys.platform == "win32":
        raise ConfigurationError("http.workers_unsupported")
    listeners = _listeners(host, port, count)
    with tempfile.TemporaryDirectory(prefix="chie-workers-") as folder:
        supervisor = Supervisor(command, listeners, Path(folder))
        asyncio.run(supervisor.run(lambda: announce(*urls_of(listeners[0]))))
    if supervisor.failed:
        raise SystemExit(1)  # the worker has printed the reason


def _listeners(host: str, port: int, count: int) -> list[socket.socket]:
    """One listener per worker: Linux distributes connections evenly among them, but not among workers of one listener.

    The supervisor keeps all of them open, so clients wait while a worker is replaced instead of being refused.
    """
    with listen(host, port) as probe:  # without SO_REUSEPORT, so that a port in use is an error
        address = probe.getsockname()[:2]
        if sys.platform != "linux":
            return [probe.dup()] * count
    return [socket.create_server(address, family=_family(host), backlog=BACKLOG, reuse_port=True) for _ in range(count)]


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


class Supervisor:
    """Starts the first worker alone, which migrates the database and reports wrong settings once."""

    def __init__(self, command: Sequence[str], listeners: Sequence[socket.socket], folder: Path) -> None:
        self._command = command
        self._listeners = listeners
        self._folder = folder
        self._processes: set[Process] = set()
        self._stopping = asyncio.Event()
        self._all_ready = False
        self.failed = False

    async def run(self, announce: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop)
        ready: list[asyncio.Future[None]] = [loop.create_future() for _ in self._listeners]
        async with asyncio.TaskGroup() as group:
            for index, (listener, first_ready) in enumerate(zip(self._listeners, ready, strict=True)):
                group.create_task(self._keep_running(listener, first_ready))
                if index == 0:
                    await self._wait_until_stopping(first_ready)
            await self._wait_until_stopping(asyncio.gather(*ready))
            if not self._stopping.is_set():
                self._all_ready = True
                announce()

    async def _wait_until_stopping(self, ready: "asyncio.Future[Any]") -> None:
        """Wait for `ready`, but no longer than until the supervisor stops."""
        stopping: asyncio.Future[Any] = asyncio.ensure_future(self._stopping.wait())
        await asyncio.wait({ready, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()

    async def _keep_running(self, listener: socket.socket, ready: "asyncio.Future[None]") -> None:
        """Restart the worker of this listener whenever it dies."""
        deaths = 0
        while not self._stopping.is_set():
            began = monotonic()
            await self._run_worker(listener, ready)
            if self._stopping.is_set():
                break
            if not self._all_ready:
                self.failed = True
                self._stop()
            deaths = deaths + 1 if monotonic() - began < STABLE_SECONDS else 1
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), RESTART_DELAYS[min(deaths, len(RESTART_DELAYS)) - 1])
        listener.close()

    async def _run_worker(self, listener: socket.socket, ready: "asyncio.Future[None]") -> None:
        """Start one worker and wait for its end."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=subprocess.DEVNULL,
                env=os.environ
                | {WORKER_SOCKETS: f"{listener.fileno()},{theirs.fileno()}", METRICS_FOLDER: str(self._folder)},
                pass_fds=(listener.fileno(), theirs.fileno()),
                process_group=0,  # Ctrl+C reaches the supervisor alone, which stops the workers
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
            then = "; starting another" if self._all_ready else " before all workers were ready"
            logger.warning("worker %d exited (%s)%s", process.pid, _reason(code), then)

    def _stop(self) -> None:
        """Terminate the workers; on the second call kill them."""
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
class WorkerSocket:
    """The sockets a worker inherits: the listener to serve, and one that closes when the supervisor dies."""

    listener: socket.socket
    supervisor: socket.socket

    @classmethod
    def inherited(cls) -> "WorkerSocket | None":
        """None in a process that is not a worker."""
        descriptors = os.environ.pop(WORKER_SOCKETS, None)  # not for the worker's own child processes
        if descriptors is None:
            return None
        listener, supervisor = (socket.socket(fileno=int(descriptor)) for descriptor in descriptors.split(","))
        for one in (listener, supervisor):
            one.set_inheritable(False)
        return cls(listener, supervisor)

    def report_ready(self, server: "uvicorn.Server") -> None:
        """Tell the supervisor, and stop the server when the supervisor dies."""
        self.supervisor.send(b"1")
        Thread(target=self._stop_with_supervisor, args=(server,), name="supervisor-watch", daemon=True).start()

    def _stop_with_supervisor(self, server: "uvicorn.Server") -> None:
        with suppress(OSError):
            self.supervisor.recv(1)
        server.should_exit = True
