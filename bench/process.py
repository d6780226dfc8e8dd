"""CPU time and memory of a process and its children, from the kernel."""

import os
from collections.abc import Iterator
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def cpu(pid: int) -> float:
    """Seconds of processor time so far."""
    return sum(_cpu(one) for one in _tree(pid))


def rss(pid: int) -> float:
    """Megabytes of memory now."""
    return sum(_rss(one) for one in _tree(pid))


def _tree(pid: int) -> Iterator[int]:
    yield pid
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in (thread / "children").read_text().split():
            yield from _tree(int(child))


def _cpu(pid: int) -> float:
    """Includes children and threads that have ended, in ticks of 10 ms; threads that live are known to the ns."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own, ended = (sum(map(int, fields[first : first + 2])) / TICK for first in (11, 13))
    living = sum(map(_nanoseconds, Path(f"/proc/{pid}/task").iterdir())) / 1e9
    return max(own, living) + ended


def _nanoseconds(thread: Path) -> int:
    try:
        return int((thread / "schedstat").read_text().split()[0])
    except OSError:  # it has just ended, or the kernel does not count
        return 0


def _rss(pid: int) -> float:
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024
