"""What a check found out, and how checks are run: all at once, each for so long and no longer."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from threading import Event, Thread
from typing import Literal

from chie.errors import ChieError, ConfigurationError

State = Literal["ok", "off", "warning", "problem"]

SETTINGS = '"${EDITOR:-vi}" .env'
SECONDS = 15.0
GRACE_SECONDS = 1.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Finding:
    """`off` is what nobody set up, which is no fault. A problem has the command that mends it."""

    check: str
    state: State
    says: str
    fix: str | None = None


@dataclass(frozen=True)
class Check:
    """`fix` mends what made the check itself fail; where that was a setting, its place is opened instead."""

    name: str
    look: Callable[[], Awaitable[Sequence[Finding]]]
    fix: str
    seconds: float = SECONDS


@dataclass(frozen=True)
class Examination:
    """`late` where some check is still at it, and would keep the process from ending."""

    findings: list[Finding]
    late: bool

    @property
    def well(self) -> bool:
        return all(finding.state != "problem" for finding in self.findings)


def examine(checks: Sequence[Check]) -> Examination:
    """In a thread that nobody waits for: a driver that hangs shall not hang whoever asked.

    Nor a check that never gives way to the others, which no time limit of theirs could end.
    """
    found: dict[Check, Sequence[Finding]] = {}
    ended = Event()
    thread = Thread(target=lambda: asyncio.run(_examine(checks, found, ended)), daemon=True)
    thread.start()
    ended.wait(max(check.seconds for check in checks) + 2 * GRACE_SECONDS)
    findings = [finding for check in checks for finding in found.get(check, [_slow(check)])]
    late = any(_slow(check) in findings for check in checks)
    if not late:
        thread.join()
    return Examination(findings, late)


async def _examine(checks: Sequence[Check], found: dict[Check, Sequence[Finding]], ended: Event) -> None:
    async def look(check: Check) -> None:
        found[check] = await _look(check)

    tasks = [asyncio.create_task(look(check)) for check in checks]
    await asyncio.wait(tasks, timeout=max(check.seconds for check in checks) + GRACE_SECONDS)
    ended.set()


async def _look(check: Check) -> Sequence[Finding]:
    try:
        async with asyncio.timeout(check.seconds):
            return await check.look()
    except TimeoutError:
        return [_slow(check)]
    except ConfigurationError as error:
        return [Finding(check.name, "problem", error.message, SETTINGS)]
    except ChieError as error:
        return [Finding(check.name, "problem", error.message, check.fix)]
    except Exception as error:
        logger.exception("the check %s failed", check.name)
        return [Finding(check.name, "problem", f"The check itself failed ({type(error).__name__}).", check.fix)]


def _slow(check: Check) -> Finding:
    return Finding(check.name, "problem", f"No answer within {check.seconds:g} seconds.", check.fix)
