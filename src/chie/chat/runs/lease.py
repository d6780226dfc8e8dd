"""Which process writes an answer, and whether it still lives."""

import os
import socket
import sys
from datetime import timedelta
from functools import cache
from pathlib import Path
from secrets import token_hex
from time import monotonic

RENEW = timedelta(seconds=5)
LEASE = timedelta(seconds=20)
CERTAIN = timedelta(minutes=5)

UNKNOWN = "-"


def new_owner() -> str:
    return f"{_machine()}/{os.getpid()}/{_started(os.getpid())}/{token_hex(4)}"


def is_dead(owner: str, silence: timedelta, *, us: str, lease: timedelta = LEASE) -> bool:
    """On our own machine we can look for the process; otherwise silence for the length of a lease means death."""
    machine, *process = owner.split("/")
    if owner == us or machine != _machine() or len(process) != 3:
        return silence > lease
    return not _runs(int(process[0]), process[1])


class Patience:
    """How long others may be silent before they count as dead.

    When we have just come, or the database was away, they may have had no chance to speak: then only a silence
    that leaves no doubt counts.
    """

    def __init__(self) -> None:
        self.start_over()

    def start_over(self) -> None:
        self._since = monotonic()

    @property
    def lease(self) -> timedelta:
        return LEASE if monotonic() - self._since > LEASE.total_seconds() else CERTAIN


@cache
def _machine() -> str:
    """Two processes that read the same here can see each other's numbers. Containers often share a host name."""
    host = socket.gethostname()
    if sys.platform != "linux":
        return host
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{host}:{boot}:{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return f"{host}:{token_hex(8)}"


def _runs(pid: int, started: str) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    if started == UNKNOWN:
        return pid != os.getpid()  # we are not they, so our number was theirs before
    return _started(pid) in (started, UNKNOWN)


def _started(pid: int) -> str:
    """When a process began, so that its number in other hands is not taken for it."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return UNKNOWN
    state, *fields = stat.rpartition(")")[2].split()
    return "ended" if state == "Z" else fields[18]
