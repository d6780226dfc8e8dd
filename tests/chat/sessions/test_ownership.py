"""Who writes an answer, and when they count as dead."""

import os
import subprocess
import sys
from datetime import timedelta

import pytest

from chie.chat.runs import lease as ownership
from chie.chat.runs.lease import CERTAIN, LEASE, Patience, _started, is_dead, new_owner

US = new_owner()
MACHINE, _, STARTED, _ = US.split("/")


def gone_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize(
    ("owner", "silence", "dead"),
    [
        (US, timedelta(0), False),
        (US, LEASE * 2, True),
        (f"{MACHINE}/{os.getpid()}/{STARTED}/aa", LEASE * 2, False),
        (f"{MACHINE}/{os.getpid()}/1/aa", timedelta(0), True),
        ("elsewhere/1/1/aa", LEASE / 2, False),
        ("elsewhere/1/1/aa", LEASE * 2, True),
        (f"{MACHINE.partition(':')[0]}/{os.getpid()}/aa", LEASE / 2, False),
    ],
    ids=[
        "ours",
        "ours, forgotten",
        "another house in a living process",
        "a living process that has the number of a dead one",
        "far and alive",
        "far and silent",
        "an older Chie, under the same host name",
    ],
)
def test_a_writer_is_dead_when_it_cannot_be_alive(owner: str, silence: timedelta, dead: bool) -> None:
    assert is_dead(owner, silence, us=US) is dead


def test_a_living_neighbour_is_not_dead_however_silent() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as neighbour:
        owner = f"{MACHINE}/{neighbour.pid}/{_started(neighbour.pid)}/aa"
        assert not is_dead(owner, LEASE * 9, us=US)
        neighbour.kill()
        neighbour.wait()
        assert is_dead(owner, timedelta(0), us=US)


def test_a_neighbour_whose_end_nobody_noted_yet_is_dead() -> None:
    """Its parent has not waited for it: it has a number still, and does nothing any more."""
    neighbour = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = f"{MACHINE}/{neighbour.pid}/{_started(neighbour.pid)}/aa"
    neighbour.kill()
    os.waitid(os.P_PID, neighbour.pid, os.WEXITED | os.WNOWAIT)
    assert is_dead(owner, timedelta(0), us=US)
    neighbour.communicate()


def test_a_number_that_nobody_has_is_dead_at_once() -> None:
    assert is_dead(f"{MACHINE}/{gone_pid()}/1/aa", timedelta(0), us=US)


def test_whoever_has_just_come_or_lost_the_database_is_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(ownership, "monotonic", lambda: clock[0])
    patience = Patience()
    assert patience.lease == CERTAIN
    clock[0] += LEASE.total_seconds() + 1
    assert patience.lease == LEASE
    patience.start_over()
    assert patience.lease == CERTAIN
