"""Who writes an answer, and when they count as dead."""

import os
import subprocess
import sys
from datetime import timedelta

import pytest

from chie.chat.sessions.conversation import now
from chie.chat.sessions.ownership import LEASE, is_dead, new_owner

US = new_owner()
HOST = US.rsplit("/", 2)[0]


def gone_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize(
    ("owner", "silent_for", "dead"),
    [
        (US, timedelta(0), False),
        (US, LEASE * 2, True),
        (f"{HOST}/{os.getppid()}/aa", LEASE * 2, False),
        (f"{HOST}/{os.getpid()}/aa", timedelta(0), True),
        ("elsewhere/1/aa", LEASE / 2, False),
        ("elsewhere/1/aa", LEASE * 2, True),
    ],
    ids=["ours", "ours, forgotten", "a living neighbour", "our number, reused", "far and alive", "far and silent"],
)
def test_a_writer_is_dead_when_it_cannot_be_alive(owner: str, silent_for: timedelta, dead: bool) -> None:
    assert is_dead(owner, now() - silent_for, us=US, now=now()) is dead


def test_a_neighbour_whose_process_is_gone_is_dead_at_once() -> None:
    assert is_dead(f"{HOST}/{gone_pid()}/aa", now(), us=US, now=now())
