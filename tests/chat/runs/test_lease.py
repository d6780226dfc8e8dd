"""Leases: when the owner of an answer counts as dead."""

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
        ("other-host/1/1/aa", LEASE_DURATION / 2, False),
        ("other-host/1/1/aa", LEASE_DURATION * 2, True),
        (f"{MACHINE.partition(':')[0]}/{os.getpid()}/aa", LEASE_DURATION / 2, False),
    ],
    ids=[
        "own",
        "own, expired",
        "another app in a running process",
        "reused process id",
        "other machine, renewed",
        "other machine, expired",
        "older version with the same host name",
    ],
)
def test_owner_is_dead_if_its_process_or_its_lease_has_ended(owner: str, idle: timedelta, dead: bool) -> None:
    assert is_abandoned(owner, idle, own=OWN) is dead


def test_running_process_of_this_machine_keeps_an_expired_lease() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        owner = f"{MACHINE}/{process.pid}/{_start_time(process.pid)}/aa"
        assert not is_abandoned(owner, LEASE_DURATION * 9, own=OWN)
        process.kill()
        process.wait()
        assert is_abandoned(owner, timedelta(0), own=OWN)


def test_zombie_process_is_dead() -> None:
    """It has a process id until its parent waits for it."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = f"{MACHINE}/{process.pid}/{_start_time(process.pid)}/aa"
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert is_abandoned(owner, timedelta(0), own=OWN)
    process.communicate()


def test_missing_process_is_dead_at_once() -> None:
    assert is_abandoned(f"{MACHINE}/{gone_pid()}/1/aa", timedelta(0), own=OWN)


def test_grace_period_after_start_and_after_a_database_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(lease, "monotonic", lambda: clock[0])
    policy = LeasePolicy()
    assert policy.duration == GRACE_DURATION
    clock[0] += LEASE_DURATION.total_seconds() + 1
    assert policy.duration == LEASE_DURATION
    policy.restart_grace()
    assert policy.duration == GRACE_DURATION
