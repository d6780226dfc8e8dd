"""Runs all checks concurrently, each with its own timeout."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from threading import Event, Thread

from chie.doctor.finding import EDIT_SETTINGS, Finding
from chie.errors import ChieError, ConfigurationError
from chie.messages.catalogue import Message

CHECK_TIMEOUT_SECONDS = 15.0
GRACE_SECONDS = 1.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Check:
    """`fix` is for an error that the check itself raises; a ConfigurationError is fixed in the settings instead."""

    name: str
    run: Callable[[], Awaitable[Sequence[Finding]]]
    fix: str
    timeout_seconds: float = CHECK_TIMEOUT_SECONDS


@dataclass(frozen=True)
class Report:
    """`unfinished` if a check is still running, which would keep the process from exiting."""

    findings: list[Finding]
    unfinished: bool

    @property
    def ok(self) -> bool:
        return all(finding.state != "problem" for finding in self.findings)


def run_checks(checks: Sequence[Check]) -> Report:
    """Runs the checks in a daemon thread, so a driver that hangs does not hang the caller.

    This also covers a check that blocks the event loop, where the other checks' timeouts cannot fire.
    """
    results: dict[Check, Sequence[Finding]] = {}
    done = Event()
    thread = Thread(target=lambda: asyncio.run(_run_all(checks, results, done)), daemon=True)
    thread.start()
    done.wait(max(check.timeout_seconds for check in checks) + 2 * GRACE_SECONDS)
    findings = [finding for check in checks for finding in results.get(check, [_timeout(check)])]
    unfinished = any(_timeout(check) in findings for check in checks)
    if not unfinished:
        thread.join()
    return Report(findings, unfinished)


async def _run_all(checks: Sequence[Check], results: dict[Check, Sequence[Finding]], done: Event) -> None:
    async def run(check: Check) -> None:
        results[check] = await _run(check)

    tasks = [asyncio.create_task(run(check)) for check in checks]
    await asyncio.wait(tasks, timeout=max(check.timeout_seconds for check in checks) + GRACE_SECONDS)
    done.set()


async def _run(check: Check) -> Sequence[Finding]:
    try:
        async with asyncio.timeout(check.timeout_seconds):
            return await check.run()
    except TimeoutError:
        return [_timeout(check)]
    except ConfigurationError as error:
        return [Finding(check.name, "problem", error.reason, EDIT_SETTINGS)]
    except ChieError as error:
        return [Finding(check.name, "problem", error.reason, check.fix)]
    except Exception as error:
        logger.exception("the check %s failed", check.name)
        return [Finding(check.name, "problem", Message("doctor.check_failed", error=type(error).__name__), check.fix)]


def _timeout(check: Check) -> Finding:
    message = Message("doctor.check_timeout", seconds=f"{check.timeout_seconds:g}")
    return Finding(check.name, "problem", message, check.fix)
