"""Who writes an answer, and when they count as dead."""

import os
import subprocess
import sys
from datetime import timedelta

import pytest

from chie.chat.runs import lease
from chie.chat.runs.lease import GRACE_DURATION, LEASE_DURATION, LeasePolicy, _start_time, is_abandoned, new_owner

OWN = new_owner()
MACHINE, _, STARTED, _ = OWN.split("/")


def gone_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize(
    ("owner", "idle", "dead"),
    [
        (OWN, timedelta(0), False),
        (OWN, LEASE_DURATION * 2, True),
        (f"{MACHINE}/{os.getpid()}/{STARTED}/aa", LEASE_DURATION * 2, False),
        (f"{MACHINE}/{os.getpid()}/1/aa", timedelta(0), True),
        ("elsewhere/1/1/aa", LEASE_DURATION / 2, False),
        ("elsewhere/1/1/aa", LEASE_DURATION * 2, True),
        (f"{MACHINE.partition(':')[0]}/{os.getpid()}/aa", LEASE_DURATION / 2, False),
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
def test_a_writer_is_dead_when_it_cannot_be_alive(owner: str, idle: timedelta, dead: bool) -> None:
    assert is_abandoned(owner, idle, own=OWN) is dead


def test_a_living_neighbour_is_not_dead_however_silent() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as neighbour:
        owner = f"{MACHINE}/{neighbour.pid}/{_start_time(neighbour.pid)}/aa"
        assert not is_abandoned(owner, LEASE_DURATION * 9, own=OWN)
        neighbour.kill()
        neighbour.wait()
        assert is_abandoned(owner, timedelta(0), own=OWN)


def test_a_neighbour_whose_end_nobody_noted_yet_is_abandoned() -> None:
    """Its parent has not waited for it: it has a number still, and does nothing any more."""
    neighbour = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = f"{MACHINE}/{neighbour.pid}/{_start_time(neighbour.pid)}/aa"
    neighbour.kill()
    os.waitid(os.P_PID, neighbour.pid, os.WEXITED | os.WNOWAIT)
    assert is_abandoned(owner, timedelta(0), own=OWN)
    neighbour.communicate()


def test_a_number_that_nobody_has_is_dead_at_once() -> None:
    assert is_abandoned(f"{MACHINE}/{gone_pid()}/1/aa", timedelta(0), own=OWN)


def test_whoever_has_just_come_or_lost_the_database_is_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(lease, "monotonic", lambda: clock[0])
    policy = LeasePolicy()
    assert policy.duration == GRACE_DURATION
    clock[0] += LEASE_DURATION.total_seconds() + 1
    assert policy.duration == LEASE_DURATION
    policy.restart_grace()
    assert policy.duration == GRACE_DURATION
