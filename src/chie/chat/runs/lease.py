"""The lease on an answer: which process generates it, and when that process counts as dead."""

import os
import socket
import sys
from datetime import timedelta
from functools import cache
from pathlib import Path
from secrets import token_hex
from time import monotonic

RENEW_INTERVAL = timedelta(seconds=5)
LEASE_DURATION = timedelta(seconds=20)
GRACE_DURATION = timedelta(minutes=5)

START_TIME_UNKNOWN = "-"


def new_owner() -> str:
    """A name for this process: machine, process id, start time and a random suffix."""
    return f"{_machine()}/{os.getpid()}/{_start_time(os.getpid())}/{token_hex(4)}"


def is_abandoned(owner: str, idle: timedelta, *, own: str, lease: timedelta = LEASE_DURATION) -> bool:
    """Whether `owner` is dead. Processes of this machine are looked up; others are dead once the lease expires.

    `idle` is the time since the lease was renewed, and `own` is the caller's own name.
    """
    machine, *process = owner.split("/")
    if owner == own or machine != _machine() or len(process) != 3:
        return idle > lease
    return not _is_running(int(process[0]), process[1])


class LeasePolicy:
    """How long a lease of another process may go unrenewed.

    Right after start, and after the database was unreachable, other processes may have had no chance to renew. Only
    `GRACE_DURATION` counts then.
    """

    def __init__(self) -> None:
        self.restart_grace()

    def restart_grace(self) -> None:
        self._since = monotonic()

    @property
    def duration(self) -> timedelta:
        return LEASE_DURATION if monotonic() - self._since > LEASE_DURATION.total_seconds() else GRACE_DURATION


@cache
def _machine() -> str:
    """Equal for processes that see each other's process ids. The host name alone is not: containers often share it."""
    host = socket.gethostname()
    if sys.platform != "linux":
        return host
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{host}:{boot}:{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return f"{host}:{token_hex(8)}"


def _is_running(pid: int, start_time: str) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    if start_time == START_TIME_UNKNOWN:
        return pid != os.getpid()  # the owner is another process, so its id was reused for this one
    return _start_time(pid) in (start_time, START_TIME_UNKNOWN)


def _start_time(pid: int) -> str:
    """Tells a process from an earlier one with the same id."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return START_TIME_UNKNOWN
    state, *fields = stat.rpartition(")")[2].split()
    return "ended" if state == "Z" else fields[18]
