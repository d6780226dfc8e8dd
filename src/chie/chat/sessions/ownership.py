"""Which process writes an answer, and whether it still lives."""

import os
import socket
from datetime import datetime, timedelta
from secrets import token_hex

RENEW = timedelta(seconds=10)
LEASE = timedelta(seconds=40)


def new_owner() -> str:
    return f"{socket.gethostname()}/{os.getpid()}/{token_hex(4)}"


def is_dead(owner: str, alive_at: datetime, *, us: str, now: datetime) -> bool:
    """On our own machine we can look for the process; otherwise silence for the length of a lease means death."""
    host, pid, _ = owner.rsplit("/", 2)
    our_host, our_pid, _ = us.rsplit("/", 2)
    if owner == us or host != our_host:
        return now - alive_at > LEASE
    return pid == our_pid or not _runs(int(pid))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
