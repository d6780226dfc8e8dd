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
    """Includes children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICK


def _rss(pid: int) -> float:
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024
